"""Split by radix: split the chain by the bits of the colors, from the highest, then sort each group by radix.

The processes are sorted, not items: after the last bits of the colors, every chain is a group. `chain.sort.radix` sorts
each group by key, which ends with a join of its parts; without keys this step is omitted.

    p = 4, colors 1 0 1 0, keys 5 5 3 6     the chains 1 -> 3 and 0 -> 2; by key 1 -> 3 and 2 -> 0

Rounds   at most (2 a + 4 b) ceil(log2 p)    Sent per rank   8 + 8 2^digit per message    Scratch   O(1)
Time     no closed form; a, b digits of color and key; chains of 1 stop early; proportional to log p for fixed width
Fits     any p; integers
Best     very many processes and short numbers
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Case, UnsupportedCaseError
from collectives.catalogue.declaration import algorithm
from collectives.chain.bins import split_by_bin
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compares, Widths, compares, is_undefined
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.scan import allreduce
from collectives.chain.sort import radix
from collectives.tools.protocol import Comm

LOWEST = -(1 << 63)


def _checked_integer(value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise UnsupportedCaseError(f"split radix: {value!r} is not an integer") from None
    if not LOWEST <= number < -LOWEST:
        raise UnsupportedCaseError(f"split radix: {number} does not fit in 64 bits")
    return number


def _checked(number: int, width: int, value: Any) -> int:
    if not 0 <= number < 1 << width:
        raise UnsupportedCaseError(f"split radix: {value!r} does not fit in the {width} bits of bits=")
    return number


def _ranges(chain: Chain, numbers: list[int | None]) -> tuple[list[int], list[int]]:
    """Return the smallest color and key, and the numbers of bits of their ranges."""
    # The complement of a number instead of its negative, which does not exist for the smallest 64-bit integer.
    pairs = [(LOWEST, LOWEST) if number is None else (number, ~number) for number in numbers]
    reduced = [int(number) for number in allreduce(chain, np.array(pairs, np.int64).reshape(-1), np.maximum)]
    highs, lows = reduced[::2], [~number for number in reduced[1::2]]
    return lows, [max(0, high - low).bit_length() for high, low in zip(highs, lows, strict=True)]


@algorithm(
    checks_itself=True,
    schedule=None,
    why_unsupported=radix.sort_radix.why_unsupported,
    holds=radix.holds,
    parameters={"digit": 4},
)
def split_radix(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    compare: Compares = None,
    widths: Widths = None,
    bits: tuple[int, int] | None = None,
    digit: int = 4,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
    tag: int = 0,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED.

    `bits` are the numbers of bits of colors and keys, including the sign; by default one allreduce finds their ranges.
    `widths` exists for compatibility with the other splits and must be None or (0, 0).
    """
    chain = chain_of(group, tag)
    if widths is not None and any(widths):
        raise UnsupportedCaseError(f"split radix sorts integers: widths must be None or (0, 0), not {widths}")
    if compares(compare) != (None, None):
        raise UnsupportedCaseError("split radix sorts integers in their natural order: compare= is not supported")
    radix.sort_radix.check(Case(chain.size, parameters={"digit": digit}))
    values = (None, None) if is_undefined(color) else (color, key)
    numbers = [None if value is None else _checked_integer(value) for value in values]
    if bits is None:
        lows, lengths = _ranges(chain, numbers)
    else:
        lows, lengths = [-(1 << width - 1) if width else 0 for width in bits], list(bits)
    # A process with the color UNDEFINED has no bin, so it leaves in the first scan, even if all others have the same bin.
    shift, leaving = lengths[0] if color is not None else 0, color is not None
    offset = None if numbers[0] is None else _checked(numbers[0] - lows[0], lengths[0], color)
    while leaving or shift > 0:
        low = max(0, shift - digit)
        bin_number = None if offset is None else offset >> low & (1 << shift - low) - 1
        part, _ = split_by_bin(chain, bin_number, 1 << digit, meter)
        if part is None:
            return None
        chain, shift, leaving = part, low, False
        if chain.size == 1:
            return chain
    if numbers[1] is None:
        return chain
    number = _checked(numbers[1] - lows[1], lengths[1], key)
    found: Chain | None = radix.sort_radix(chain, number, bits=lengths[1], digit=digit, meter=meter)
    return found
