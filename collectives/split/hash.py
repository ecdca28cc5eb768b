"""Split by hash: everybody's colour falls into one of a few bins, and the chain into one chain for each; and again.

An iteration is one double scan of a table that says of each bin who is next and how many there are (`chain.bins`). The
next one takes other bits of a hash of the turned colour. An iteration that splits nothing is followed by an allreduce:
does everybody have the same colour? Then that is a group. Keys, if any, are sorted by bitonic sort within it.

    p = 4, colours b a b a     bins 1 0 1 0; the chains 1 -> 3 and 0 -> 2; bins 0 0 and 3 3; all alike: done

Rounds   2 ceil(log2 p) a turn    Sent per rank   8 + 8 2^bits a message    Scratch   O(1); as bitonic with keys
Time     no closed form; iterations depend on the colours; a few groups: about 6 ceil(log2 p) (t_s + (8 + 8 2^bits) t_w)
Fits     any p; colours of whole numbers, strings or bytes; keys of any data
Best     a split without keys
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011; Jenkins, Hash
         Functions, Dr. Dobb's Journal 22 (1997)
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.chain.chain import Chain
from collectives.chain.hashing import bins_fit, check_hash, hash_holds, split_by_hash
from collectives.chain.items import Compares, Widths, left_out
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.split import bitonic
from collectives.tools.protocol import Comm


def split_hash(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    compare: Compares = None,
    widths: Widths = None,
    bits: int = 3,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour.

    There are 2^bits bins. `compare` is for keys: colours that are alike must be so in every byte.
    """
    chain: Chain | None
    chain, functions = check_hash(ALGORITHM, group, color, compare, bits, tag)
    if color is not None:
        chain, _ = split_by_hash(chain, color, bits, 2, meter)
        if left_out(color):
            return None
    if key is None or chain is None or chain.size == 1:
        return chain
    return bitonic.split_bitonic(chain, None, key, compare=functions, widths=widths, work=work, meter=meter)


def holds(case: Case) -> int:
    return hash_holds(case, ALGORITHM.parameter(case, "bits"), bitonic.ALGORITHM)


ALGORITHM = Algorithm(
    operation="split",
    name="hash",
    run=split_hash,
    schedule=None,
    fits=bins_fit,
    holds=holds,
    parameters={"bits": 3},
    kind="split",
)
