"""Split by hash until a chain has fewer than 64 processes, which then tell each other all they have.

As the split by hash, but short chains are not split any further: an allgather on the chain finishes it.

    p = 4, colours b a b a     fewer than 64 at once: everybody gets b0 a1 b2 a3 and picks its group

Rounds   2 ceil(log2 p) a turn    Sent per rank   8 + 8 2^bits a message    Scratch   O(1); as bitonic with keys
Time     no closed form; iterations depend on the colours
Fits     any p; colours of whole numbers, strings or bytes; keys of any data
Best     a split without keys into many groups
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.chain.chain import Chain
from collectives.chain.hashing import bins_fit, check_hash, hash_holds, split_by_hash
from collectives.chain.items import Compares, Widths, left_out
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.split import allgather_group, bitonic
from collectives.tools.protocol import Comm


def split_hash64(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    compare: Compares = None,
    widths: Widths = None,
    bits: int = 3,
    threshold: int = 64,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour.

    There are 2^bits bins, until a chain has fewer than `threshold` processes. `compare` is for keys: colours that
    are alike must be so in every byte.
    """
    chain: Chain | None
    chain, functions = check_hash(ALGORITHM, group, color, compare, bits, tag)
    finished = color is None
    if color is not None:
        chain, finished = split_by_hash(chain, color, bits, threshold, meter)
    if chain is None or chain.size == 1 or (finished and key is None):
        return None if left_out(color) else chain
    finish = bitonic if chain.size >= threshold else allgather_group
    rest = None if finished else color
    return finish.ALGORITHM.run(  # type: ignore[no-any-return]
        chain, rest, key, compare=functions, widths=widths, work=work, meter=meter
    )


def holds(case: Case) -> int:
    bits, threshold = ALGORITHM.parameter(case, "bits"), ALGORITHM.parameter(case, "threshold")
    return max(hash_holds(case, bits, bitonic.ALGORITHM), int(threshold) - 1)


ALGORITHM = Algorithm(
    operation="split",
    name="hash64",
    run=split_hash64,
    schedule=None,
    fits=bins_fit,
    holds=holds,
    parameters={"bits": 3, "threshold": 64},
    kind="split",
)
