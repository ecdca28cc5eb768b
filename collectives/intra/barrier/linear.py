"""Barrier by counting: all ranks report to rank 0, which then releases them one by one.

Rank r > 0 sends an empty message to rank 0 and waits for a reply. Rank 0 receives all messages, then it sends all
replies.

    p = 4     reports        releases
    rank 0    <1  <2  <3     >1  >2  >3
    rank 1    >0             <0
    rank 2    >0                 <0
    rank 3    >0                     <0

Rounds   2 (p-1)    Sent per rank   0 bytes    Scratch   none
Time     2 (p-1) t_s
Fits     any p
Best     p = 2, and as a baseline
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import empty_messages, no_bytes
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import LinearPhase, Round, Transfer
from collectives.tools.messages import TOKEN, wait_all
from collectives.tools.protocol import Comm


def schedule(case: Case) -> Iterator[Round]:
    yield LinearPhase(Transfer(other, 0, 0) for other in range(1, case.p))
    yield LinearPhase(Transfer(0, other, 0) for other in range(1, case.p))


@algorithm(schedule=schedule, closed_sent=no_bytes, closed_time=empty_messages(lambda p: 2 * (p - 1)))
def barrier_linear(comm: Comm, *, tag: int = 0) -> None:
    """Return when every rank has entered the barrier."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if rank == 0:
        wait_all([comm.Irecv(TOKEN, other, tag) for other in range(1, p)])
        wait_all([comm.Isend(TOKEN, other, tag) for other in range(1, p)])
    else:
        comm.Send(TOKEN, 0, tag)
        comm.Recv(TOKEN, 0, tag)
