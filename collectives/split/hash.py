"""Split by hash: repeatedly split the chain into one chain per bin, where bits of a hash of the color select the bin.

An iteration is one double scan of a table that has the next member and the size of each bin (`chain.bins`). The next
iteration uses other bits of a hash of the rotated color. After an iteration that splits nothing, a scan checks whether all
processes have the same color; then they are a group. Keys, if any, are sorted within the group by bitonic sort.

    p = 4, colors b a b a     bins 1 0 1 0; the chains 1 -> 3 and 0 -> 2; bins 0 0 and 3 3; all colors are equal: done

Rounds   2 ceil(log2 p) per iteration    Sent per rank   8 + 8 2^bits per message
         Scratch   O(1); with keys, that of split bitonic
Time     no closed form; the number of iterations depends on the colors; few groups: about 6 ceil(log2 p) (t_s + (8 + 8
         2^bits) t_w)
Fits     any p; colors that are integers, strings or bytes; keys of any data
Best     a split without keys
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011; Jenkins, Hash
         Functions, Dr. Dobb's Journal 22 (1997)
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.chain.chain import Chain
from collectives.chain.hashing import bins_fit, check_hash, hash_holds, split_by_hash
from collectives.chain.items import Compares, Widths, is_undefined
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.split import bitonic
from collectives.tools.protocol import Comm


def holds(case: Case) -> int:
    return hash_holds(case, split_hash.parameter(case, "bits"), bitonic.split_bitonic)


@algorithm(checks_itself=True, schedule=None, why_unsupported=bins_fit, holds=holds)
def split_hash(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    compare: Compares = None,
    widths: Widths = None,
    bits: int = 3,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
    tag: int = 0,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED.

    There are 2^bits bins. `compare` applies to keys only: colors are equal if their bytes are equal.
    """
    chain: Chain | None
    chain, functions = check_hash(split_hash, group, color, compare, bits, tag)
    if color is not None:
        chain, _ = split_by_hash(chain, color, bits, 2, meter)
        if is_undefined(color):
            return None
    if key is None or chain is None or chain.size == 1:
        return chain
    found: Chain | None = bitonic.split_bitonic(chain, None, key, compare=functions, widths=widths, work=work, meter=meter)
    return found
