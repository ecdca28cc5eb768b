"""Distributions of m elements over p ranks: the six distributions of Träff et al. (2008), and a random one.

Each function takes m and p and returns p integers with sum m, for every m >= 0 and p >= 1. Equal and linear shares are
rounded down, and the lowest ranks get one more each until the sum is m. The caller chooses the unit: elements for `counts`,
or bytes.

    regular      m/p on each rank
    broadcast    m on rank 0, 0 on the other ranks
    spike        m/2 on rank 0, rounded up; equal shares of the rest on the other ranks
    half         equal shares on ranks 0, 2, 4, ...; 0 on the other ranks
    linear       proportional to p - i on rank i
    geometric    m/2, m/4, m/8, ... rounded down; the last rank has the remainder
    random       the distances between p - 1 random cuts of 0..m; the seed determines them, on every rank and machine
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from random import Random
from typing import TypeAlias

Distribution: TypeAlias = Callable[[int, int], tuple[int, ...]]


def regular(m: int, p: int) -> tuple[int, ...]:
    """Return equal shares, m/p on each rank.

    >>> regular(10, 4)
    (3, 3, 2, 2)
    """
    return tuple(m // p + (i < m % p) for i in range(p))


def broadcast(m: int, p: int) -> tuple[int, ...]:
    """Return m on rank 0, and 0 on the other ranks.

    >>> broadcast(10, 4)
    (10, 0, 0, 0)
    """
    return (m, *(0,) * (p - 1))


def spike(m: int, p: int) -> tuple[int, ...]:
    """Return half of m on rank 0, and equal shares of the rest on the other ranks.

    >>> spike(13, 4), spike(13, 1)
    ((7, 2, 2, 2), (13,))
    """
    return (m,) if p == 1 else (m - m // 2, *regular(m // 2, p - 1))


def half(m: int, p: int) -> tuple[int, ...]:
    """Return equal shares on even ranks, and 0 on odd ranks.

    >>> half(10, 4), half(10, 5)
    ((5, 0, 5, 0), (4, 0, 3, 0, 3))
    """
    shares = regular(m, (p + 1) // 2)
    return tuple(0 if i % 2 else shares[i // 2] for i in range(p))


def linear(m: int, p: int) -> tuple[int, ...]:
    """Return shares proportional to p - i on rank i.

    >>> linear(10, 4), linear(12, 4)
    ((4, 3, 2, 1), (5, 4, 2, 1))
    """
    shares = [2 * m * (p - i) // (p * (p + 1)) for i in range(p)]
    remainder = m - sum(shares)
    return tuple(share + (i < remainder) for i, share in enumerate(shares))


def geometric(m: int, p: int) -> tuple[int, ...]:
    """Return m/2, m/4, m/8, ..., rounded down, and the remainder on the last rank.

    >>> geometric(20, 4), geometric(3, 6)
    ((10, 5, 2, 3), (1, 0, 0, 0, 0, 2))
    """
    shares = [m >> (i + 1) for i in range(p - 1)]
    return (*shares, m - sum(shares))


def random(m: int, p: int, seed: int = 0) -> tuple[int, ...]:
    """Return the distances between p - 1 random cuts of the range 0..m; a distance may be 0.

    >>> random(100, 5, seed=1) == random(100, 5, seed=1), sum(random(100, 5, seed=2)), len(random(0, 3))
    (True, 100, 3)
    """
    generator = Random(seed)
    cuts = sorted(generator.randint(0, m) for _ in range(p - 1))
    return tuple(end - start for start, end in pairwise([0, *cuts, m]))


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "regular": regular,
    "broadcast": broadcast,
    "spike": spike,
    "half": half,
    "linear": linear,
    "geometric": geometric,
}
"""The six distributions of Träff et al. (2008), in the order of the paper."""
