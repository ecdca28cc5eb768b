"""Allgather by gather and broadcast: rank 0 collects all blocks and broadcasts them.

Rank r sends its block to rank 0 by the algorithm `gather`; rank 0 broadcasts the p blocks by the algorithm `bcast`.

    p = 4     start      gathered   broadcast       (both binomial: two rounds each)
    rank 0    0...       0123       0123
    rank 1    .1..       .1..       0123
    rank 2    ..2.       ..2.       0123
    rank 3    ...3       ...3       0123

Rounds   sum of both parts    Sent per rank   sum of both parts    Scratch   sum of both parts
Time     sum of both parts; both binomial: 2 ceil(log2 p) t_s + (p-1 + p ceil(log2 p)) m t_w
Fits     any p; cases that both parts support; blocks of equal size
Best     as a baseline, and where both parts are fast on the machine
Source   folklore; Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, use it
         between groups
"""

from __future__ import annotations

from dataclasses import replace

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.composite import AlgorithmCase, sequential_claims
from collectives.catalogue.declaration import algorithm
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.gather.binomial import gather_binomial
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


def parts(case: Case) -> list[AlgorithmCase]:
    gather, bcast = allgather_gather_bcast.parameter(case, "gather"), allgather_gather_bcast.parameter(case, "bcast")
    whole = Case(case.p, case.p * case.m, itemsize=case.itemsize)
    return [(gather, replace(case, root=0, parameters={})), (bcast, whole)]


@algorithm(**sequential_claims(parts))
def allgather_gather_bcast(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    gather: Algorithm = gather_binomial,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if rank == 0:
        gather.run(comm, sendbuf, recvbuf, root=0, tag=tag)
    else:
        own = Layout.equal(recvbuf.size, p).block(recvbuf, rank) if sendbuf is None else sendbuf
        gather.run(comm, own, None, root=0, tag=tag)
    bcast.run(comm, recvbuf, root=0, tag=tag)
