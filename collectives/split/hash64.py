"""Split by hash until a chain has fewer than 64 processes; then use an allgather.

Chains of at least 64 processes are split as in the split by hash. In a shorter chain, the processes exchange all colors and
keys by an allgather, and each selects its group.

    p = 4, colors b a b a     fewer than 64: all ranks get b0 a1 b2 a3 and select their group

Rounds   2 ceil(log2 p) per iteration    Sent per rank   8 + 8 2^bits per message
         Scratch   O(1); with keys, that of split bitonic
Time     no closed form; the number of iterations depends on the colors
Fits     any p; colors that are integers, strings or bytes; keys of any data
Best     a split without keys into many groups
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.chain.chain import Chain
from collectives.chain.hashing import bins_fit, check_hash, hash_holds, split_by_hash
from collectives.chain.items import Compares, Widths, is_undefined
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.split import allgather_group, bitonic
from collectives.tools.protocol import Comm


def holds(case: Case) -> int:
    bits, threshold = split_hash64.parameter(case, "bits"), split_hash64.parameter(case, "threshold")
    return max(hash_holds(case, bits, bitonic.split_bitonic), int(threshold) - 1)


@algorithm(checks_itself=True, schedule=None, why_unsupported=bins_fit, holds=holds)
def split_hash64(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    compare: Compares = None,
    widths: Widths = None,
    bits: int = 3,
    threshold: int = 64,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
    tag: int = 0,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED.

    Chains of at least `threshold` processes are split into 2^bits bins, shorter ones by an allgather. `compare` applies to
    keys only: colors are equal if their bytes are equal.
    """
    chain: Chain | None
    chain, functions = check_hash(split_hash64, group, color, compare, bits, tag)
    finished = color is None
    if color is not None:
        chain, finished = split_by_hash(chain, color, bits, threshold, meter)
    if chain is None or chain.size == 1 or (finished and key is None):
        return None if is_undefined(color) else chain
    finish = bitonic.split_bitonic if chain.size >= threshold else allgather_group.split_allgather_group
    rest = None if finished else color
    return finish.run(  # type: ignore[no-any-return]  # algorithms are functions of any type
        chain, rest, key, compare=functions, widths=widths, work=work, meter=meter
    )
