"""Alltoallv by pairwise exchange: in every round the ranks form pairs, and each pair exchanges its two blocks.

The algorithm is that of alltoall by pairwise exchange, for blocks of different sizes. Empty blocks are not sent, and
two ranks without data for each other skip their round. With `order="ascending"`, each rank has the partners 0, 1, 2,
... In place, the block for another rank is replaced by the block from that rank, of the same size.

    p = 4     i = 1        i = 2        i = 3
              0 - 1        0 - 2        0 - 3
              2 - 3        1 - 3        1 - 2

Rounds   at most p-1, p if odd    Sent per rank   all blocks for others    Scratch   none; in place, the largest block
Time     equal blocks: (p-1) (t_s + m t_w); p (t_s + m t_w) if p is odd; otherwise computed from the schedule; in a
         round a pair takes as long as the larger of its two blocks; at most 2 p - 3 rounds in ascending order
Fits     any p; order "tournament" or "ascending"
Best     long blocks of similar size: a rank has only one partner at a time
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two); in
         ascending order: MPICH, src/mpi/coll/alltoallv/alltoallv_intra_pairwise_sendrecv_replace.c
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.patterns.pairs.blocks import copied, copy_own_block, equal_blocks_time, largest_scratch, sent_to_others
from collectives.patterns.pairs.rounds import Order, exchange_in_pairs, pair_rounds, pairs_schedule, unknown_order
from collectives.tools.blocks import cut
from collectives.tools.blocks import scratch as spare_block
from collectives.tools.protocol import Buffer, Comm


def rounds_of_equal_blocks(case: Case) -> int:
    return pair_rounds(case.p, alltoallv_pairwise.parameter(case, "order"))


@algorithm(
    schedule=pairs_schedule,
    scratch=largest_scratch,
    why_unsupported=unknown_order,
    closed_sent=sent_to_others,
    closed_time=equal_blocks_time(rounds_of_equal_blocks),
)
def alltoallv_pairwise(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    sendcounts: Sequence[int] | None,
    recvcounts: Sequence[int],
    *,
    sdispls: Sequence[int] | None = None,
    rdispls: Sequence[int] | None = None,
    order: Order = "tournament",
    tag: int = 0,
) -> None:
    """Exchange blocks of any size between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send.

    Blocks are contiguous and in rank order unless displacements are given.
    """
    p, rank = comm.Get_size(), comm.Get_rank()
    places = cut(recvbuf, recvcounts, rdispls, p)
    if sendbuf is None:
        others = (place.size for other, place in enumerate(places) if other != rank)
        spare = spare_block(recvbuf, max(others, default=0))
        exchange_in_pairs(comm, lambda other: copied(spare, places[other]), places.__getitem__, tag, order)
        return
    blocks = cut(sendbuf, sendcounts, sdispls, p)
    copy_own_block(comm, blocks[rank], places[rank], tag)
    exchange_in_pairs(comm, blocks.__getitem__, places.__getitem__, tag, order)
