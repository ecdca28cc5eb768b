"""Alltoall by spreading out: every rank sends to its right neighbor, then to the next rank, and so on.

In round i = 1 .. p-1 rank r sends to r+i the block for r+i and receives from r-i the block for r (mod p). In place, the
blocks are sent from a copy, since a block arrives long before the block that it replaces is sent. With
`distances="alternating"`, r sends to r-1, r+1, r-2, r+2, ..., and one spare block is enough in place: a block arrives one
round before the block that it replaces is sent, or after it.

    p = 4     start          i = 1          i = 2          i = 3        (block rs travels from r to s)
    rank 0    00 .. .. ..    00 .. .. 30    00 .. 20 30    00 10 20 30
    rank 1    .. 11 .. ..    01 11 .. ..    01 11 .. 31    01 11 21 31
    rank 2    .. .. 22 ..    .. 12 22 ..    02 12 22 ..    02 12 22 32
    rank 3    .. .. .. 33    .. .. 23 33    .. 13 23 33    03 13 23 33

Rounds   p-1    Sent per rank   (p-1) m bytes    Scratch   none; in place p m or m bytes
Time     (p-1) (t_s + m t_w)
Fits     any p; blocks of equal size; distances "increasing" or "alternating"
Best     long blocks on a full-duplex network: each is sent once, and no rank is ever idle, for any p
Source   Fan, Gilray, Pascucci, Huang, Micinski, Kumar, Optimizing the Bruck Algorithm for Non-uniform All-to-all
         Communication, HPDC 2022, doi:10.1145/3502181.3531468 (describes it as spread-out);
         alternating: Open MPI, ompi/mca/coll/base/coll_base_alltoall.c: alltoall_intra_basic_inplace
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import one_message_per_round, other_ranks
from collectives.catalogue.declaration import algorithm
from collectives.patterns.pairs.blocks import copy_own_block, sent_to_others, set_aside
from collectives.patterns.pairs.rounds import Distances, exchange_spreading, spreading_schedule, unknown_distances
from collectives.tools.blocks import Layout, check_same_size, copy_of
from collectives.tools.protocol import Buffer, Comm


def scratch(case: Case, rank: int) -> int:
    if not case.in_place:
        return 0
    return case.p * case.m if alltoall_spread.parameter(case, "distances") == "increasing" else case.m if case.p > 1 else 0


@algorithm(
    schedule=spreading_schedule,
    scratch=scratch,
    why_unsupported=unknown_distances,
    closed_sent=sent_to_others,
    **one_message_per_round(other_ranks),
)
def alltoall_spread(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, distances: Distances = "increasing", tag: int = 0
) -> None:
    """Exchange equal blocks between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    if sendbuf is None and distances == "alternating":
        places = [layout.block(recvbuf, other) for other in range(p)]
        exchange_spreading(comm, set_aside(places, rank), places.__getitem__, tag, distances)
        return
    source = copy_of(recvbuf) if sendbuf is None else sendbuf
    check_same_size(source, recvbuf)
    copy_own_block(comm, layout.block(source, rank), layout.block(recvbuf, rank), tag)
    outgoing, incoming = (lambda other: layout.block(source, other)), (lambda other: layout.block(recvbuf, other))
    exchange_spreading(comm, outgoing, incoming, tag, distances)
