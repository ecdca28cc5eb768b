"""The binomial tree on p ranks, with any root.

Ranks are counted from the root: relative rank v = (rank - root) mod p. The parent of v is v without its lowest bit; the
subtree of v is the run v .. v + lowest_bit(v) - 1, limited to p, so a subtree's blocks are contiguous.

    p = 8, relative ranks     0 -- 1           children of 0: 1, 2, 4
                              |--- 2 -- 3      children of 4: 5, 6
                              '--- 4 -- 5
                                   '--- 6 -- 7
"""

from __future__ import annotations

from functools import lru_cache

from collectives.tools.numbers import ceil_log2, lowest_bit


def parent(v: int) -> int:
    """The parent of relative rank v > 0.

    >>> [parent(v) for v in range(1, 8)]
    [0, 0, 2, 0, 4, 4, 6]
    """
    return v - lowest_bit(v)


@lru_cache(maxsize=4096)
def children(v: int, p: int) -> tuple[int, ...]:
    """The children of relative rank v, smallest subtree first.

    >>> children(0, 6), children(4, 6), children(5, 6)
    ((1, 2, 4), (5,), ())
    """
    levels = lowest_bit(v).bit_length() - 1 if v else ceil_log2(p)
    return tuple(v + (1 << k) for k in range(levels) if v + (1 << k) < p)


def subtree(v: int, p: int) -> int:
    """Number of ranks in the subtree of relative rank v; they are v, v+1, ...

    >>> [subtree(v, 6) for v in range(6)]
    [6, 1, 2, 1, 2, 1]
    """
    return min(lowest_bit(v), p - v) if v else p


def level(k: int, p: int) -> range:
    """The relative ranks whose edge to their parent has length 2^k.

    >>> list(level(0, 6)), list(level(1, 6)), list(level(2, 6))
    ([1, 3, 5], [2], [4])
    """
    return range(1 << k, p, 2 << k)
