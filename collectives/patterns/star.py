"""A star: one message between the root and each other rank. Shared code of the linear gather, scatter and bcast.

The root starts all its sends, or all its receives, in rank order, and waits for them. They are served one after the
other, since the root has one port. An empty block is not sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.closed_forms import all_but_own
from collectives.catalogue.schedule import LinearPhase, Round, Seconds, Transfer, message
from collectives.tools.blocks import Cut, required
from collectives.tools.messages import receive, send, wait_all
from collectives.tools.protocol import Buffer, Comm


def gather_direct(
    name: str, comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, cut: Cut, root: int, tag: int
) -> None:
    """Gather; if the root's `sendbuf` is None, its block is in place."""
    if comm.Get_rank() != root:
        send(comm, required(sendbuf, "a rank that sends its block"), root, tag)
        return
    whole = required(recvbuf, f"the root of a {name}")
    layout = cut(whole, comm.Get_size())
    layout.put(whole, root, sendbuf)
    senders = [r for r in range(layout.p) if r != root and layout.size(r)]
    wait_all([comm.Irecv(layout.block(whole, r), r, tag) for r in senders])


def scatter_direct(
    name: str, comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, cut: Cut, root: int, tag: int
) -> None:
    """Scatter; if the root's `recvbuf` is None, its block stays in place."""
    if comm.Get_rank() != root:
        receive(comm, required(recvbuf, "a rank that receives its block"), root, tag)
        return
    whole = required(sendbuf, f"the root of a {name}")
    layout = cut(whole, comm.Get_size())
    layout.take(whole, root, recvbuf)
    receivers = [r for r in range(layout.p) if r != root and layout.size(r)]
    wait_all([comm.Isend(layout.block(whole, r), r, tag) for r in receivers])


# Claims --------------------------------------------------------------------------------------------------------------


def leaves(case: Case) -> list[tuple[int, int]]:
    """The other ranks with data, and the bytes of their blocks."""
    layout = case.layout
    sizes = [(r, layout.size(r) * case.itemsize) for r in range(case.p) if r != case.root]
    return [(r, nbytes) for r, nbytes in sizes if nbytes]


def gather_schedule(case: Case) -> Iterator[Round]:
    yield LinearPhase(Transfer(rank, case.root, nbytes) for rank, nbytes in leaves(case))


def scatter_schedule(case: Case) -> Iterator[Round]:
    yield LinearPhase(Transfer(case.root, rank, nbytes) for rank, nbytes in leaves(case))


def sent_up(case: Case, rank: int) -> int:
    """Bytes that a rank sends in a gather."""
    return 0 if rank == case.root else case.layout.size(rank) * case.itemsize


def sent_down(case: Case, rank: int) -> int:
    """Bytes that a rank sends in a scatter."""
    return all_but_own(case, rank) if rank == case.root else 0


def sequential_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    """Time of the messages one after the other."""
    return sum(message(nbytes, t_s, t_w) for _, nbytes in leaves(case))


TO_THE_ROOT: Final = Claims(schedule=gather_schedule, closed_sent=sent_up)
FROM_THE_ROOT: Final = Claims(schedule=scatter_schedule, closed_sent=sent_down)
