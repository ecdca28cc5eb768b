"""Alltoallw by pairwise exchange: in every round the ranks form pairs, and each pair exchanges its two blocks.

The algorithm is that of alltoall by pairwise exchange, for blocks with any datatype (see alltoallw linear). With
`order="ascending"`, each rank has the partners 0, 1, 2, ... In place, copies are sent.

    p = 4     i = 1        i = 2        i = 3
              0 - 1        0 - 2        0 - 3
              2 - 3        1 - 3        1 - 2

Rounds   at most p-1, p if odd    Sent per rank   all blocks for others    Scratch   none; in place, these blocks
Time     equal blocks: (p-1) (t_s + m t_w); p (t_s + m t_w) if p is odd; otherwise computed from the schedule; in a
         round a pair takes as long as the larger of its two blocks; at most 2 p - 3 rounds in ascending order
Fits     any p; order "tournament" or "ascending"; in place only plain one-dimensional buffers
Best     parts of matrices with derived datatypes, of similar size
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two); in
         ascending order: MPICH, src/mpi/coll/alltoallw/alltoallw_intra_pairwise_sendrecv_replace.c
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.patterns.pairs.blocks import blocks_to_send, copies_scratch, equal_blocks_time, sent_to_others
from collectives.patterns.pairs.rounds import Order, exchange_in_pairs, pair_rounds, pairs_schedule, unknown_order
from collectives.tools.protocol import Comm


def rounds_of_equal_blocks(case: Case) -> int:
    return pair_rounds(case.p, alltoallw_pairwise.parameter(case, "order"))


@algorithm(
    schedule=pairs_schedule,
    scratch=copies_scratch,
    why_unsupported=unknown_order,
    closed_sent=sent_to_others,
    closed_time=equal_blocks_time(rounds_of_equal_blocks),
)
def alltoallw_pairwise(
    comm: Comm,
    sendblocks: Sequence[Any] | None,
    recvblocks: Sequence[Any],
    *,
    order: Order = "tournament",
    tag: int = 0,
) -> None:
    """Exchange one buffer with each rank; if `sendblocks` is None, `recvblocks` hold the data to send."""
    outgoing = blocks_to_send(comm, sendblocks, recvblocks, tag)
    exchange_in_pairs(comm, outgoing.__getitem__, recvblocks.__getitem__, tag, order)
