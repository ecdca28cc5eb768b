"""Alltoallw by pairwise exchange: in every round the ranks form pairs, and each pair swaps its two blocks.

As alltoall by pairwise exchange. What a block is, and what a rank has for itself: as in `linear`. In place, copies are sent.

    p = 4     i = 1        i = 2        i = 3
              0 - 1        0 - 2        0 - 3
              2 - 3        1 - 3        1 - 2

Rounds   at most p-1, or p if odd    Sent per rank   all blocks for others    Scratch   none; those blocks in place
Time     by the schedule's recurrence; in a round a pair takes as long as the larger of its two blocks
Fits     any p; in place plain one-dimensional buffers
Best     parts of matrices with types of their own, of about equal size
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.shapes.pairs import blocks_to_send, copies_scratch, in_pairs, pairs_schedule, sent_to_others
from collectives.tools.protocol import Comm


def alltoallw_pairwise(
    comm: Comm, sendblocks: Sequence[Any] | None, recvblocks: Sequence[Any], *, tag: int = 0
) -> None:
    """Swap buffers, one for each rank; `sendblocks` None means that `recvblocks` hold what is to be sent."""
    outgoing = blocks_to_send(comm, sendblocks, recvblocks, tag)
    in_pairs(comm, outgoing.__getitem__, recvblocks.__getitem__, tag)


ALGORITHM = Algorithm(
    operation="alltoallw",
    name="pairwise",
    run=alltoallw_pairwise,
    schedule=pairs_schedule,
    scratch=copies_scratch,
    closed_sent=sent_to_others,
)
