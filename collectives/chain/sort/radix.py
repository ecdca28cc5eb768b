"""Sort by radix: split the chain by the highest bits of the keys, sort the parts by the remaining bits, join the parts.

The processes are sorted instead of items: every process finds its rank and its neighbors in the order of keys; the sort is
stable. A split is a double scan of a table (`bins`). A join is another double scan, which gives every process the two
ends of each part. If all keys have equal bits, there is no join.

    p = 4, keys 2 1 3 0     top bit: 1 0 1 0, the chains 1 -> 3 and 0 -> 2; low bit: 3 -> 1 and 0 -> 2
                            joined: 3 -> 1 -> 0 -> 2

Rounds   at most 4 k ceil(log2 p)    Sent per rank   8 + 8 2^digit per message    Scratch   O(1)
Time     no closed form; k digits, parts of 1 stop early; at most 4 k ceil(log2 p) (t_s + (8 + 8 2^digit) t_w)
Fits     integers
Best     very many processes and short keys: proportional to log p
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

import numpy as np

from collectives.catalogue.algorithm import Case, UnsupportedCaseError
from collectives.catalogue.declaration import algorithm
from collectives.chain.bins import split_by_bin
from collectives.chain.chain import NO_RANK, Chain
from collectives.chain.meter import NO_METER, ItemMeter
from collectives.chain.scan import Array, allreduce
from collectives.tools.numbers import ceil_div

JOINING = 7
"""Tables that a join holds: the process's own ends, two results, two messages to send and two receive buffers."""


def _join(chain: Chain, part: Chain, own: int, totals: Array, meter: ItemMeter) -> Chain:
    """Return one chain of all parts, in the order of the bins."""
    ends = np.full((2, len(totals)), NO_RANK, np.int32)
    if part.left == NO_RANK:
        ends[0, own] = part.address
    if part.right == NO_RANK:
        ends[1, own] = part.address
    meter.take(JOINING * len(totals))
    firsts, lasts = allreduce(chain, ends, np.maximum)  # exactly one process knows each end
    meter.drop(JOINING * len(totals))
    left, right = part.left, part.right
    filled = np.flatnonzero(totals)
    at = int(np.searchsorted(filled, own))
    if left == NO_RANK and at > 0:
        left = int(lasts[filled[at - 1]])
    if right == NO_RANK and at + 1 < len(filled):
        right = int(firsts[filled[at + 1]])
    rank = int(totals[:own].sum()) + part.rank
    return Chain(chain.comm, rank, chain.size, chain.address, left, right, chain.tag)


def why_unsupported(case: Case) -> str | None:
    digit = sort_radix.parameter(case, "digit")
    return None if 0 < digit <= 16 else f"digit = {digit} is not between 1 and 16 bits"


def holds(case: Case) -> int:
    digit, bits = sort_radix.parameter(case, "digit"), case.parameters.get("bits", 32)
    return int(JOINING * (1 << digit) + ceil_div(bits, digit) * ((1 << digit) + 1))


@algorithm(schedule=None, why_unsupported=why_unsupported, holds=holds, parameters={"digit": 4})
def sort_radix(chain: Chain, number: int, *, bits: int, digit: int = 4, meter: ItemMeter = NO_METER) -> Chain:
    """Return the chain sorted by numbers from 0 to 2^bits - 1; each iteration uses `digit` bits."""
    if number >> bits:
        raise UnsupportedCaseError(f"sort radix: {number} is not between 0 and 2^{bits} - 1")
    while bits > 0 and chain.size > 1:
        low = max(0, bits - digit)
        own = number >> low & (1 << bits - low) - 1
        part, totals = split_by_bin(chain, own, 1 << digit, meter)
        assert part is not None
        bits = low
        if part.size < chain.size:
            meter.take(len(totals) + 1)  # held until the parts are joined
            part = sort_radix(part, number & (1 << bits) - 1, bits=bits, digit=digit, meter=meter)
            chain = _join(chain, part, own, totals, meter)
            meter.drop(len(totals) + 1)
            return chain
    return chain
