"""Split by radix: split the chain on the colours' bits, from the top, then sort each group by its keys' bits.

Processes move, not items: after the last bits of the colour a chain has one colour and is a group. Keys are sorted
within it by `chain.sort.radix`, which joins the parts again; without keys there is nothing to join.

    p = 4, colours 1 0 1 0, keys 5 5 3 6     the chains 1 -> 3 and 0 -> 2; by key 1 -> 3 and 2 -> 0

Rounds   at most (2 a + 4 b) ceil(log2 p)    Sent per rank   8 + 8 2^digit a message    Scratch   O(1)
Time     no closed form; a, b digits of colour and key; chains of one are done; proportional to log p for fixed width
Fits     any p; whole numbers
Best     very many processes and short numbers
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit
from collectives.chain.bins import split_by_bin
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compares, Widths, compares, left_out
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.scan import allreduce
from collectives.chain.sort import radix
from collectives.tools.protocol import Comm

LOWEST = -(1 << 63)


def split_radix(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    compare: Compares = None,
    widths: Widths = None,
    bits: tuple[int, int] | None = None,
    digit: int = 4,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour.

    `bits` of colours and keys, with their sign, say how many steps there are; without, one allreduce finds their range.
    `widths` is what the other splits take: here it can say (0, 0) and no more.
    """
    chain = chain_of(group, tag)
    if widths is not None and any(widths):
        raise DoesNotFit(f"split radix: widths {widths} are for strings, and this is for whole numbers")
    if compares(compare) != (None, None):
        raise DoesNotFit("split radix: whole numbers have their own order, and a comparison function another")
    radix.ALGORITHM.check(Case(chain.size, parameters={"digit": digit}))
    known = (None, None) if left_out(color) else (color, key)
    numbers = [None if one is None else _whole(one) for one in known]
    if bits is None:
        lows, lengths = _ranges(chain, numbers)
    else:
        lows, lengths = [-(1 << each - 1) if each else 0 for each in bits], list(bits)
    # Who has no colour has none of the bins; a scan in which all others have one bin lets it out.
    shift, leaving = lengths[0] if color is not None else 0, color is not None
    place = None if numbers[0] is None else _checked(numbers[0] - lows[0], lengths[0], color)
    while leaving or shift > 0:
        low = max(0, shift - digit)
        own = None if place is None else place >> low & (1 << shift - low) - 1
        part, _ = split_by_bin(chain, own, 1 << digit, meter)
        if part is None:
            return None
        chain, shift, leaving = part, low, False
        if chain.size == 1:
            return chain
    if numbers[1] is None:
        return chain
    number = _checked(numbers[1] - lows[1], lengths[1], key)
    return radix.sort_radix(chain, number, bits=lengths[1], digit=digit, meter=meter)


def _whole(value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise DoesNotFit(f"split radix: {value!r} is not a whole number") from None
    if not LOWEST <= number < -LOWEST:
        raise DoesNotFit(f"split radix: {number} does not fit in 64 bits")
    return number


def _checked(number: int, width: int, value: Any) -> int:
    if not 0 <= number < 1 << width:
        raise DoesNotFit(f"split radix: {value!r} does not fit in the {width} bits that were given")
    return number


def _ranges(chain: Chain, numbers: list[int | None]) -> tuple[list[int], list[int]]:
    """The smallest colour and key, and the bits that their distances from the largest take."""
    # The complement of a number, not its negative: there is one for every number of 64 bits.
    news = [LOWEST if one is None else each for one in numbers for each in ((one, ~one) if one is not None else (0, 0))]
    found = [int(one) for one in allreduce(chain, np.array(news, np.int64), np.maximum)]
    highs, lows = found[::2], [~one for one in found[1::2]]
    return lows, [max(0, high - low).bit_length() for high, low in zip(highs, lows, strict=True)]


ALGORITHM = Algorithm(
    operation="split",
    name="radix",
    run=split_radix,
    schedule=None,
    fits=radix.ALGORITHM.fits,
    holds=radix.holds,
    parameters={"digit": 4},
    kind="split",
)
