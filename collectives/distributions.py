"""How a total of m is spread over p ranks: the six distributions of Träff et al. (2008), and a random one.

Each takes m and p and gives the p sizes as a tuple of whole numbers that add up to m exactly, for every m >= 0 and p >= 1.
Where a share is not whole, the lower ranks get one more. The unit is the caller's: elements for `counts`, or bytes.

    regular      m/p each
    broadcast    rank 0 has all
    spike        rank 0 has half (the larger half), the others share the rest
    half         ranks 0, 2, 4, ... share all, the others have nothing
    linear       proportional to p - i, so falling towards the last rank
    geometric    m/2, m/4, m/8, ... rounded down; the last rank has what is left
    random       cut at p-1 places drawn by a seed; the same for all ranks, on every machine
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from random import Random
from typing import TypeAlias

Distribution: TypeAlias = Callable[[int, int], tuple[int, ...]]


def regular(m: int, p: int) -> tuple[int, ...]:
    """
    >>> regular(10, 4)
    (3, 3, 2, 2)
    """
    return tuple(m // p + (i < m % p) for i in range(p))


def broadcast(m: int, p: int) -> tuple[int, ...]:
    """
    >>> broadcast(10, 4)
    (10, 0, 0, 0)
    """
    return (m, *(0,) * (p - 1))


def spike(m: int, p: int) -> tuple[int, ...]:
    """
    >>> spike(13, 4), spike(13, 1)
    ((7, 2, 2, 2), (13,))
    """
    return (m,) if p == 1 else (m - m // 2, *regular(m // 2, p - 1))


def half(m: int, p: int) -> tuple[int, ...]:
    """
    >>> half(10, 4), half(10, 5)
    ((5, 0, 5, 0), (4, 0, 3, 0, 3))
    """
    shares = regular(m, (p + 1) // 2)
    return tuple(0 if i % 2 else shares[i // 2] for i in range(p))


def linear(m: int, p: int) -> tuple[int, ...]:
    """
    >>> linear(10, 4), linear(12, 4)
    ((4, 3, 2, 1), (5, 4, 2, 1))
    """
    shares = [2 * m * (p - i) // (p * (p + 1)) for i in range(p)]
    left = m - sum(shares)
    return tuple(share + (i < left) for i, share in enumerate(shares))


def geometric(m: int, p: int) -> tuple[int, ...]:
    """
    >>> geometric(20, 4), geometric(3, 6)
    ((10, 5, 2, 3), (1, 0, 0, 0, 0, 2))
    """
    shares = [m >> (i + 1) for i in range(p - 1)]
    return (*shares, m - sum(shares))


def random(m: int, p: int, seed: int = 0) -> tuple[int, ...]:
    """Sizes between neighbouring cuts, any of which may be 0.

    >>> random(100, 5, seed=1) == random(100, 5, seed=1), sum(random(100, 5, seed=2)), len(random(0, 3))
    (True, 100, 3)
    """
    draw = Random(seed)
    cuts = sorted(draw.randint(0, m) for _ in range(p - 1))
    return tuple(right - left for left, right in pairwise([0, *cuts, m]))


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "regular": regular,
    "broadcast": broadcast,
    "spike": spike,
    "half": half,
    "linear": linear,
    "geometric": geometric,
}
"""The paper's six, in its order."""
