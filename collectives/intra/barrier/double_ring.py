"""Barrier by a double ring: a message goes around all ranks twice.

Rank 0 sends an empty message to rank 1, and each rank forwards it to the next. When it returns to rank 0, all ranks have
entered the barrier. The second circulation of the message releases them.

    p = 4     first circulation               second circulation
    message   0 -> 1 -> 2 -> 3 -> 0           0 -> 1 -> 2 -> 3 -> 0

Rounds   2 p    Sent per rank   0 bytes    Scratch   none
Time     2 p t_s
Fits     any p
Best     as a baseline: each rank has only two partners
Source   Open MPI, coll/base: barrier_intra_doublering
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import empty_messages, no_bytes
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.tools.messages import TOKEN
from collectives.tools.protocol import Comm

TURNS = 2


def schedule(case: Case) -> Iterator[Round]:
    for _ in range(TURNS if case.p > 1 else 0):
        for rank in range(case.p):
            yield [Transfer(rank, (rank + 1) % case.p, 0)]


@algorithm(schedule=schedule, closed_sent=no_bytes, closed_time=empty_messages(lambda p: 2 * p if p > 1 else 0))
def barrier_double_ring(comm: Comm, *, tag: int = 0) -> None:
    """Return when every rank has entered the barrier."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for _ in range(TURNS if p > 1 else 0):
        if rank > 0:
            comm.Recv(TOKEN, rank - 1, tag)
        comm.Send(TOKEN, (rank + 1) % p, tag)
        if rank == 0:
            comm.Recv(TOKEN, p - 1, tag)
