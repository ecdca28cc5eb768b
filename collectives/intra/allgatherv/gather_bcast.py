"""Allgatherv by gatherv and broadcast: rank 0 collects all blocks and broadcasts them.

Rank r sends its block to rank 0 by the algorithm `gatherv`; rank 0 broadcasts all blocks by the algorithm `bcast`.

    p = 4, counts 2, 0, 1, 3     start       gathered    broadcast
    rank 0                       00....      002333      002333
    rank 1                       ......      ......      002333
    rank 2                       ..2...      ..2...      002333
    rank 3                       ...333      ...333      002333

Rounds   sum of both parts    Sent per rank   sum of both parts    Scratch   sum of both parts
Time     sum of both parts
Fits     any p; cases that both parts support
Best     very uneven blocks with a good broadcast: the broadcast does not depend on the distribution of the data
Source   folklore; Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, use it
         between groups
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.composite import AlgorithmCase, sequential_claims
from collectives.catalogue.declaration import algorithm
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.gatherv.binomial import gatherv_binomial
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


def parts(case: Case) -> list[AlgorithmCase]:
    gatherv, bcast = allgatherv_gather_bcast.parameter(case, "gatherv"), allgatherv_gather_bcast.parameter(case, "bcast")
    whole = Case(case.p, case.layout.size(0, case.p) * case.itemsize, itemsize=case.itemsize)
    return [(gatherv, replace(case, root=0, parameters={})), (bcast, whole)]


@algorithm(**sequential_claims(parts))
def allgatherv_gather_bcast(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    gatherv: Algorithm = gatherv_binomial,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Gather blocks of any size to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.of_ranks(counts, p)
    if rank == 0:
        gatherv.run(comm, sendbuf, recvbuf, counts, root=0, tag=tag)
    else:
        own = layout.block(recvbuf, rank) if sendbuf is None else sendbuf
        gatherv.run(comm, own, None, counts, root=0, tag=tag)
    bcast.run(comm, layout.block(recvbuf, 0, p), root=0, tag=tag)
