"""Alltoallw by sending: everybody starts all its sends and all its receives, and waits.

As alltoall by sending. A block is whatever the communicator's Send and Recv accept: an array, a phantom, or a list such as
[buffer, count, type] for a derived datatype. None stands for nothing; both sides of an empty block must say that it is
empty. What a rank has for itself is copied, or sent to itself if it is no plain one-dimensional buffer. In place, copies are
sent.

    p = 4, where r has [matrix, r, column] for 0     rank 0 sends to 1, 2, 3, receives from 3, 2, 1 and has None for itself

Rounds   no closed form    Sent per rank   all blocks for others    Scratch   none; those blocks in place
Time     no closed form; the order of messages depends on timing
Fits     any p; in place plain one-dimensional buffers
Best     parts of matrices with types of their own, of very different sizes
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.shapes.pairs import all_at_once, blocks_to_send, copies_scratch, sent_to_others
from collectives.tools.protocol import Comm


def alltoallw_linear(comm: Comm, sendblocks: Sequence[Any] | None, recvblocks: Sequence[Any], *, tag: int = 0) -> None:
    """Swap buffers, one for each rank; `sendblocks` None means that `recvblocks` hold what is to be sent."""
    outgoing = blocks_to_send(comm, sendblocks, recvblocks, tag)
    all_at_once(comm, outgoing.__getitem__, recvblocks.__getitem__, tag)


ALGORITHM = Algorithm(
    operation="alltoallw",
    name="linear",
    run=alltoallw_linear,
    schedule=None,
    scratch=copies_scratch,
    closed_sent=sent_to_others,
)
