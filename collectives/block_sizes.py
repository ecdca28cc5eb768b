"""How large the blocks of a blocked ring should be: the three rules of Träff et al. (2008), and a search on paper.

A rule is a function of all ranks' sizes in bytes that gives B in bytes. It may stand where `block_bytes` is asked for: all
ranks know all sizes, so all come to the same B.

Where the square root is from: with z of the p ranks empty and the last blocks of the others half full on average, there are
b - 1 = m/B + (p - z)/2 + z - 1 = m/B + (p + z - 2)/2 rounds of t_s + B t_w, least for B^2 = 2 t_s m / (t_w (p+z-2)).
(The slides print the rounds as m/B + (p - z)/2, which does not lead to their own B.)
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
"""Where nothing is said: what Träff et al. took on Blue Gene/P, between their 32 KB and 1 MB elsewhere."""


def bytes_of(block_bytes: BlockBytes, sizes: Sequence[int]) -> int:
    """B in bytes, be it given or by a rule, which is not asked where nobody has anything: then any B will do.

    >>> bytes_of(24, [1, 2]), bytes_of(smallest(at_least=2), [7, 5]), bytes_of(fixed(100), [7, 5]), bytes_of(max, [0, 0])
    (24, 5, 100, 1)
    """
    if not callable(block_bytes):
        return block_bytes
    return int(block_bytes(sizes)) if any(sizes) else 1


def bytes_in(case: Case, block_bytes: BlockBytes) -> int:
    """The same on paper."""
    layout = case.layout
    return bytes_of(block_bytes, [layout.size(r) * case.itemsize for r in range(case.p)])


def positive_blocks_only(case: Case) -> str | None:
    """`fits` of the algorithms that cut data into blocks."""
    size = bytes_in(case, case.parameters.get("block_bytes", 1))
    return None if size > 0 else f"block_bytes = {size} is not positive"


def smallest(at_least: int = 1) -> Rule:
    """B = min m_i, so that everybody is busy in all rounds; but not under a threshold, also if somebody is empty."""
    return lambda sizes: max(at_least, min(sizes))


def fixed(nbytes: int) -> Rule:
    """B whatever the sizes are; the same as to give the number."""
    return lambda sizes: nbytes


def square_root(t_s: Seconds, t_w: Seconds) -> Rule:
    """The best B where the costs are linear and some have nothing to send."""

    def rule(sizes: Sequence[int]) -> int:
        return square_root_bytes(t_s, t_w, sum(sizes), len(sizes), sum(not size for size in sizes))

    return rule


RULES: Mapping[str, Callable[..., Rule]] = {"smallest": smallest, "fixed": fixed, "sqrt": square_root}
"""The rules by name, for those who ask for one in words: `block_bytes=smallest(at_least=4k)`.

Costs that are not given, t_s and t_w of `sqrt`, are meant to be those of the machine at hand."""


def square_root_bytes(t_s: Seconds, t_w: Seconds, m: int, p: int, z: int) -> int:
    """sqrt(2 t_s m / (t_w (p + z - 2))), at least 1 and at most m; m where no pipeline can form, or bytes cost nothing.

    >>> square_root_bytes(100, 1, 10**6, 10, 9), square_root_bytes(100, 1, 10**6, 2, 0), square_root_bytes(0, 1, 9, 9, 8)
    (3429, 1000000, 1)
    """
    if p + z <= 2 or not t_w:
        return max(1, m)
    return min(max(1, isqrt(int(2 * t_s * m / (t_w * (p + z - 2))))), max(1, m))


def candidates(case: Case, most: int = 200) -> list[int]:
    """Sizes worth a try, in bytes: where somebody's number of blocks changes, up to `most` for each; and powers of two.

    >>> candidates(Case(2, counts=(6, 5)))
    [1, 2, 3, 4, 5, 6]
    """
    layout = case.layout
    largest = sorted({layout.size(r) for r in range(case.p)} - {0})[-3:]
    found = {case.itemsize * ceil_div(size, n) for size in largest for n in _counts(size, most)}
    found |= {case.itemsize << k for k in range(max(largest, default=0).bit_length())}
    return sorted(found) or [case.itemsize]


def _counts(size: int, most: int) -> Iterable[int]:
    """Numbers of blocks from 1 to `size`: all the small ones, then every one about a twentieth larger."""
    n = 1
    while n <= size and most:
        yield n
        n = max(n + 1, n * 21 // 20)
        most -= 1


def best(
    algorithm: Algorithm, case: Case, t_s: Seconds, t_w: Seconds, sizes: Iterable[int] | None = None
) -> tuple[int, Seconds]:
    """The block size with the least claimed time, and that time; of `sizes`, or of those worth a try.

    From the largest down, and without those that cannot win since somebody's messages alone would take longer.
    """
    found: tuple[Seconds, int] | None = None
    for size in sorted(candidates(case) if sizes is None else sizes, reverse=True):
        if found and _at_least(case, size, t_s, t_w) > found[0]:
            continue
        time = algorithm.time(replace(case, parameters={**case.parameters, "block_bytes": size}), t_s, t_w)
        if time is None:
            raise ValueError(f"{algorithm!r} claims no time, so its best block size cannot be found on paper")
        found = min(found or (time, size), (time, size))
    if found is None:
        raise ValueError("there is no block size to try")
    return found[1], found[0]


def _at_least(case: Case, size: int, t_s: Seconds, t_w: Seconds) -> Seconds:
    """What the rank with the least data has to receive, one message after the other."""
    layout, longest = case.layout, max(1, size // case.itemsize)
    blocks = [ceil_div(layout.size(r), longest) for r in range(case.p)]
    nbytes = layout.size(0, case.p) - min(layout.size(r) for r in range(case.p))
    return (sum(blocks) - min(blocks)) * t_s + nbytes * case.itemsize * t_w
