"""Block sizes of a blocked ring: the three rules of Träff et al. (2008), and a search for the least claimed time.

A rule is a function that takes the sizes of all ranks in bytes and returns the block size B in bytes. The parameter
`block_bytes` accepts a rule in place of a number: all ranks know all sizes, so all compute the same B.

Derivation of the square root: let z of the p ranks have no data, and let the last blocks of the others be half full on
average. Then there are b - 1 = m/B + (p - z)/2 + z - 1 = m/B + (p + z - 2)/2 rounds, each of which takes t_s + B t_w. The
total is minimal for B^2 = 2 t_s m / (t_w (p+z-2)).
(The slides print the rounds as m/B + (p - z)/2, which does not lead to their formula for B.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isqrt
from typing import TypeAlias

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Seconds
from collectives.tools.numbers import ceil_div

Rule: TypeAlias = Callable[[Sequence[int]], int]
BlockBytes: TypeAlias = int | Rule

BLOCK_BYTES = 65536
"""The default: the value of Träff et al. on Blue Gene/P; on other machines they used between 32 KB and 1 MB."""


def bytes_of(block_bytes: BlockBytes, sizes: Sequence[int]) -> int:
    """Return B in bytes, given as a number or by a rule; 1 if a rule is given and all sizes are 0.

    >>> bytes_of(24, [1, 2]), bytes_of(smallest(at_least=2), [7, 5]), bytes_of(fixed(100), [7, 5]), bytes_of(max, [0, 0])
    (24, 5, 100, 1)
    """
    if not callable(block_bytes):
        return block_bytes
    return int(block_bytes(sizes)) if any(sizes) else 1


def bytes_in(case: Case, block_bytes: BlockBytes) -> int:
    """Return B in bytes for a case."""
    layout = case.layout
    return bytes_of(block_bytes, [layout.size(r) * case.itemsize for r in range(case.p)])


def positive_blocks_only(case: Case) -> str | None:
    """`why_unsupported` of algorithms with a parameter `block_bytes`: reject sizes that are not positive."""
    size = bytes_in(case, case.parameters.get("block_bytes", 1))
    return None if size > 0 else f"block_bytes = {size} is not positive"


def smallest(at_least: int = 1) -> Rule:
    """Return the rule B = max(at_least, min m_i), with which all ranks send in all rounds unless `at_least` applies."""
    return lambda sizes: max(at_least, min(sizes))


def fixed(nbytes: int) -> Rule:
    """Return the rule B = nbytes, for any sizes."""
    return lambda sizes: nbytes


def square_root(t_s: Seconds, t_w: Seconds) -> Rule:
    """Return the rule that minimizes the time for linear costs if some ranks have no data."""

    def rule(sizes: Sequence[int]) -> int:
        return square_root_bytes(t_s, t_w, sum(sizes), len(sizes), sum(not size for size in sizes))

    return rule


RULES: Mapping[str, Callable[..., Rule]] = {"smallest": smallest, "fixed": fixed, "sqrt": square_root}
"""The rules by name, for command lines: `block_bytes=smallest(at_least=4k)`.

If t_s and t_w of `sqrt` are not given, the caller uses those of the cost model."""


def square_root_bytes(t_s: Seconds, t_w: Seconds, m: int, p: int, z: int) -> int:
    """Return sqrt(2 t_s m / (t_w (p + z - 2))), limited to 1 .. m; m if p + z <= 2 (no pipeline) or t_w = 0.

    >>> square_root_bytes(100, 1, 10**6, 10, 9), square_root_bytes(100, 1, 10**6, 2, 0), square_root_bytes(0, 1, 9, 9, 8)
    (3429, 1000000, 1)
    """
    if p + z <= 2 or not t_w:
        return max(1, m)
    return min(max(1, isqrt(int(2 * t_s * m / (t_w * (p + z - 2))))), max(1, m))


def candidates(case: Case, limit: int = 200) -> list[int]:
    """Return candidate block sizes in bytes: powers of two, and sizes at which a rank's number of blocks changes.

    For each of the three ranks with the most data, at most `limit` sizes are returned.

    >>> candidates(Case(2, counts=(6, 5)))
    [1, 2, 3, 4, 5, 6]
    """
    layout = case.layout
    largest = sorted({layout.size(r) for r in range(case.p)} - {0})[-3:]
    sizes = {case.itemsize * ceil_div(size, n) for size in largest for n in _counts(size, limit)}
    sizes |= {case.itemsize << k for k in range(max(largest, default=0).bit_length())}
    return sorted(sizes) or [case.itemsize]


def _counts(size: int, limit: int) -> Iterable[int]:
    """Yield numbers of blocks from 1 to `size`, consecutive at first, then with a ratio of about 1.05."""
    n = 1
    while n <= size and limit:
        yield n
        n = max(n + 1, n * 21 // 20)
        limit -= 1


def best(
    algorithm: Algorithm, case: Case, t_s: Seconds, t_w: Seconds, sizes: Iterable[int] | None = None
) -> tuple[int, Seconds]:
    """Return the block size with the least claimed time, and that time, from `sizes` or `candidates(case)`.

    The search goes from the largest size to the smallest and skips sizes whose lower bound exceeds the best time.
    """
    fastest: tuple[Seconds, int] | None = None
    for size in sorted(candidates(case) if sizes is None else sizes, reverse=True):
        if fastest and _lower_bound(case, size, t_s, t_w) > fastest[0]:
            continue
        time = algorithm.time(replace(case, parameters={**case.parameters, "block_bytes": size}), t_s, t_w)
        if time is None:
            raise ValueError(f"{algorithm!r} claims no time, so its best block size cannot be computed; measure it instead")
        fastest = min(fastest or (time, size), (time, size))
    if fastest is None:
        raise ValueError("sizes is empty: there is no block size to choose from")
    return fastest[1], fastest[0]


def _lower_bound(case: Case, size: int, t_s: Seconds, t_w: Seconds) -> Seconds:
    """Return the time of all messages that the rank with the least data receives."""
    layout, longest = case.layout, max(1, size // case.itemsize)
    blocks = [ceil_div(layout.size(r), longest) for r in range(case.p)]
    nbytes = layout.size(0, case.p) - min(layout.size(r) for r in range(case.p))
    return (sum(blocks) - min(blocks)) * t_s + nbytes * case.itemsize * t_w
