"""Alltoallv by spreading out: every rank sends to its right neighbor, then to the next rank, and so on.

The algorithm is that of alltoall by spreading out, for blocks of different sizes: in round i = 1 .. p-1 rank r sends to
r+i and receives from r-i (mod p). Empty blocks are not sent. In place, the blocks are sent from copies. With
`distances="alternating"`, r sends to r-1, r+1, r-2, r+2, ..., and one spare block is enough in place.

    p = 4     i = 1               i = 2               i = 3
    rank 0    to 1, from 3        to 2, from 2        to 3, from 1
    rank 1    to 2, from 0        to 3, from 3        to 0, from 2
    rank 2    to 3, from 1        to 0, from 0        to 1, from 3
    rank 3    to 0, from 2        to 1, from 1        to 2, from 0

Rounds   at most p-1    Sent per rank   all blocks for others    Scratch   none; in place, all blocks or one
Time     equal blocks: (p-1) (t_s + m t_w); otherwise computed from the schedule; in a round a rank takes as long as
         its longer block
Fits     any p; distances "increasing" or "alternating"
Best     long blocks of similar size: no rank is ever idle, for any p
Source   Open MPI, ompi/mca/coll/base/coll_base_alltoallv.c: alltoallv_intra_pairwise,
         and, alternating, alltoallv_intra_basic_inplace
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.patterns.pairs.blocks import (
    equal_blocks_time,
    largest_scratch,
    sent_to_others,
    set_aside,
    sized_blocks,
    sized_blocks_scratch,
)
from collectives.patterns.pairs.rounds import Distances, exchange_spreading, spreading_schedule, unknown_distances
from collectives.tools.blocks import cut
from collectives.tools.protocol import Buffer, Comm


def scratch(case: Case, rank: int) -> int:
    increasing = alltoallv_spread.parameter(case, "distances") == "increasing"
    return sized_blocks_scratch(case, rank) if increasing else largest_scratch(case, rank)


@algorithm(
    schedule=spreading_schedule,
    scratch=scratch,
    why_unsupported=unknown_distances,
    closed_sent=sent_to_others,
    closed_time=equal_blocks_time(lambda case: case.p - 1),
)
def alltoallv_spread(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    sendcounts: Sequence[int] | None,
    recvcounts: Sequence[int],
    *,
    sdispls: Sequence[int] | None = None,
    rdispls: Sequence[int] | None = None,
    distances: Distances = "increasing",
    tag: int = 0,
) -> None:
    """Exchange blocks of any size between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send.

    Blocks are contiguous and in rank order unless displacements are given.
    """
    p = comm.Get_size()
    if sendbuf is None and distances == "alternating":
        places = cut(recvbuf, recvcounts, rdispls, p)
        exchange_spreading(comm, set_aside(places, comm.Get_rank()), places.__getitem__, tag, distances)
        return
    blocks, places = sized_blocks(comm, sendbuf, recvbuf, sendcounts, recvcounts, sdispls, rdispls, tag)
    exchange_spreading(comm, blocks.__getitem__, places.__getitem__, tag, distances)
