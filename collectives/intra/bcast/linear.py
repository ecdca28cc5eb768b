"""Broadcast, linear: the root sends the whole message to each rank in turn.

The root starts a send to every other rank, in rank order, and waits for all of them. The sends are served one after the
other, since the root has one port.

    p = 4     start   1st     2nd     3rd
    rank 0    x       x       x       x
    rank 1    .       x       x       x
    rank 2    .       .       x       x
    rank 3    .       .       .       x

Rounds   p-1    Sent per rank   (p-1) m bytes from the root    Scratch   none
Time     (p-1) (t_s + m t_w)
Fits     any p
Best     p = 2 or 3, and as a baseline
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collectives.catalogue.closed_forms import one_message_per_round, other_ranks
from collectives.catalogue.declaration import algorithm
from collectives.patterns.star import FROM_THE_ROOT
from collectives.tools.messages import receive, wait_all
from collectives.tools.protocol import Buffer, Comm


@algorithm(**FROM_THE_ROOT, closed_time=one_message_per_round(other_ranks))
def bcast_linear(comm: Comm, buf: Buffer, *, root: int = 0, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if rank != root:
        receive(comm, buf, root, tag)
    elif buf.size:
        wait_all([comm.Isend(buf, other, tag) for other in range(p) if other != root])
