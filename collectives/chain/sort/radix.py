"""Sort by radix: split the chain on the top bits of the keys, sort the parts by the bits that are left, join them again.

Here processes move, not items: everybody finds out its rank and its neighbours in order of key, those with equal keys in
the order in which they are. A split is a double scan of a table (`bins`); a join is one more, by which everybody
learns the two ends of each part. Where all have the same bits nothing has to be joined.

    p = 4, keys 2 1 3 0     top bit: 1 0 1 0, the chains 1 -> 3 and 0 -> 2; low bit: 3 -> 1 and 0 -> 2
                            joined: 3 -> 1 -> 0 -> 2

Rounds   at most 4 k ceil(log2 p)    Sent per rank   8 + 8 2^digit a message    Scratch   O(1)
Time     no closed form; k digits, parts of one are done; at most 4 k ceil(log2 p) (t_s + (8 + 8 2^digit) t_w)
Fits     whole numbers
Best     very many processes and short keys: proportional to log p
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit
from collectives.chain.bins import split_by_bin
from collectives.chain.chain import NOBODY, Chain
from collectives.chain.meter import UNREAD, Meter
from collectives.chain.scan import Array, allreduce
from collectives.tools.numbers import ceil_div

JOINING = 7
"""Tables that a join holds: the own ends, what is known of either side, what is sent to either, and two that come."""


def sort_radix(chain: Chain, number: int, *, bits: int, digit: int = 4, meter: Meter = UNREAD) -> Chain:
    """The chain in order of numbers from 0 to 2^bits - 1, taken `digit` bits at a time."""
    ALGORITHM.check(Case(chain.size, parameters={"digit": digit}))
    if number >> bits:
        raise DoesNotFit(f"sort radix: {number} is not between 0 and 2^{bits} - 1")
    while bits > 0 and chain.size > 1:
        low = max(0, bits - digit)
        own = number >> low & (1 << bits - low) - 1
        part, totals = split_by_bin(chain, own, 1 << digit, meter)
        assert part is not None
        bits = low
        if part.size < chain.size:
            meter.take(len(totals) + 1)  # on this level, until the parts are joined
            part = sort_radix(part, number & (1 << bits) - 1, bits=bits, digit=digit, meter=meter)
            chain = _joined(chain, part, own, totals, meter)
            meter.drop(len(totals) + 1)
            return chain
    return chain


def _joined(chain: Chain, part: Chain, own: int, totals: Array, meter: Meter) -> Chain:
    """One chain of all parts, from the first bin to the last."""
    ends = np.full((2, len(totals)), NOBODY, np.int32)
    if part.left == NOBODY:
        ends[0, own] = part.address
    if part.right == NOBODY:
        ends[1, own] = part.address
    meter.take(JOINING * len(totals))
    firsts, lasts = allreduce(chain, ends, np.maximum)  # one process alone knows each end
    meter.drop(JOINING * len(totals))
    left, right = part.left, part.right
    filled = np.flatnonzero(totals)
    at = int(np.searchsorted(filled, own))
    if left == NOBODY and at > 0:
        left = int(lasts[filled[at - 1]])
    if right == NOBODY and at + 1 < len(filled):
        right = int(firsts[filled[at + 1]])
    rank = int(totals[:own].sum()) + part.rank
    return Chain(chain.comm, rank, chain.size, chain.address, left, right, chain.tag)


def fits(case: Case) -> str | None:
    digit = ALGORITHM.parameter(case, "digit")
    return None if 0 < digit <= 16 else f"digits of {digit} bits: between 1 and 16 make a table that can be sent"


def holds(case: Case) -> int:
    digit, bits = ALGORITHM.parameter(case, "digit"), case.parameters.get("bits", 32)
    return int(JOINING * (1 << digit) + ceil_div(bits, digit) * ((1 << digit) + 1))


ALGORITHM = Algorithm(
    operation="sort",
    name="radix",
    run=sort_radix,
    schedule=None,
    fits=fits,
    holds=holds,
    parameters={"digit": 4},
    kind="chain",
)
