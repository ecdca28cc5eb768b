"""Values at which algorithms change what they do: powers of two, limits of MPI libraries, and the numbers next to them."""

from __future__ import annotations

from collectives.verification.cases import Counts, Traffic

LARGEST_POWER = 17
"""Sizes up to 2^17 have both neighbors; 128 KiB is twice the most common eager limit and segment size."""

SIZES = sorted(
    {(1 << k) + offset for k in (*range(1, LARGEST_POWER + 1), 20) for offset in (-1, 0, 1)}
    | {factor << k for factor in (3, 5) for k in range(10, 17)}  # MPICH: 12 KiB and 80 KiB
    | {10**k + offset for k in (2, 3, 4, 5) for offset in (0, 1)}
)
"""Numbers of bytes or elements of a block or a message."""

SEGMENTS = (100, 4096, 65536)
"""Segment and block sizes, in bytes, for which messages have a multiple of the size, and a byte less or more."""

LARGEST_INTEGER = 2**31 - 1
"""A parameter that is a number of bytes can be larger than every message."""

NUMBERS = (10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1000)
"""Values of other integer parameters; those up to 9 are in `parameter_values`."""

MORE_RANKS = (63, 64, 65, 127, 128, 129)
"""Numbers of ranks above 40 at which the number of rounds of many algorithms changes."""

_LIMITS = (1, 128, 256, 1000, 10_000, 1 << 15, 1 << 16, 10**6, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 53)
INTEGERS = (*_LIMITS, *(-limit for limit in _LIMITS), (1 << 63) - 2, 1 - (1 << 63))
"""Colors and keys of splits. Each case has one of them and both neighbors; colors are 64-bit integers."""

TEXTS = ("", "a", "b", "ab", "a\0", "b" * 100, "é", "10", "9")
"""Colors and keys of splits: with a common prefix, a zero at the end, and without characters."""


def roots(p: int) -> list[int]:
    """Return the roots of p ranks at which algorithms may be wrong: both ends, the middle, a power of two.

    >>> roots(40), roots(9), roots(1)
    ([0, 1, 20, 32, 39], [0, 1, 4, 8], [0])
    """
    power = 1 << (p - 1).bit_length() - 1 if p > 1 else 0
    return sorted({0, min(1, p - 1), p // 2, power, p - 1})


def with_block(p: int, size: int, position: int) -> Counts:
    """Return counts of p ranks, of which one is `size` and the others are 0, 1 or 2.

    >>> with_block(4, 100, 1)
    (0, 100, 2, 0)
    """
    return tuple(size if rank == position else rank % 3 for rank in range(p))


def with_pair(rows: int, columns: int, size: int, number: int) -> Traffic:
    """Return a matrix of counts, of which one is `size` and the others are 0 to 3; `number` selects the pair."""
    pair = number % rows, (number // rows + number) % columns
    return tuple(tuple(size if (r, s) == pair else (r + 3 * s) % 4 for s in range(columns)) for r in range(rows))
