"""Alltoallw, linear: every rank starts all its sends and all its receives, and waits.

The algorithm is that of alltoall linear. A block is any argument that the communicator's Send and Recv accept: an
array, a phantom, or a list such as [buffer, count, type] for a derived datatype. None stands for an empty block; sender
and receiver must agree that a block is empty. A rank copies its block for itself, or sends it to itself if it is not a
plain one-dimensional buffer. In place, copies are sent.

    p = 4, where r has [matrix, r, column] for 0     rank 0 sends to 1, 2, 3, receives from 3, 2, 1 and has None for itself

Rounds   no closed form    Sent per rank   all blocks for others    Scratch   none; in place, these blocks
Time     equal, rotated: (p-1) (t_s + m t_w); longer in ascending order; otherwise no closed form; the order of
         messages depends on timing
Fits     any p; in place only plain one-dimensional buffers
Best     parts of matrices with derived datatypes, of very different sizes
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.patterns.pairs.at_once import SendOrder, exchange_all_at_once
from collectives.patterns.pairs.blocks import blocks_to_send, copies_scratch, equal_blocks_time, sent_to_others
from collectives.tools.protocol import Comm


def rounds_of_equal_blocks(case: Case) -> int | None:
    return None if alltoallw_linear.parameter(case, "order") == "ascending" else case.p - 1


@algorithm(
    schedule=None,
    scratch=copies_scratch,
    closed_sent=sent_to_others,
    closed_time=equal_blocks_time(rounds_of_equal_blocks),
)
def alltoallw_linear(
    comm: Comm, sendblocks: Sequence[Any] | None, recvblocks: Sequence[Any], *, order: SendOrder = "right", tag: int = 0
) -> None:
    """Exchange one buffer with each rank; if `sendblocks` is None, `recvblocks` hold the data to send."""
    outgoing = blocks_to_send(comm, sendblocks, recvblocks, tag)
    exchange_all_at_once(comm, outgoing.__getitem__, recvblocks.__getitem__, tag, order)
