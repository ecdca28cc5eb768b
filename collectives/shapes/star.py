"""A star: one message between the root and each other rank. The common text of gather, scatter and bcast by sending.

The root starts all its sends, or all its receives, in rank order, and waits for them. They are served one after the other,
since it has one port. An empty block is not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypedDict

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import Pace, all_but_own, one_message_a_round, others
from collectives.catalogue.schedule import Round, Schedule, Seconds, Transfer, message
from collectives.tools.blocks import Cut, required
from collectives.tools.messages import receive, send, wait_all
from collectives.tools.protocol import Buffer, Comm


def take_in(
    name: str, comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, cut: Cut, root: int, tag: int
) -> None:
    """Gather; the root's `sendbuf` None means that its block is in place."""
    if comm.Get_rank() != root:
        send(comm, required(sendbuf, "a rank that sends its block"), root, tag)
        return
    whole = required(recvbuf, f"the root of a {name}")
    layout = cut(whole, comm.Get_size())
    layout.put(whole, root, sendbuf)
    senders = [r for r in range(layout.p) if r != root and layout.size(r)]
    wait_all([comm.Irecv(layout.block(whole, r), r, tag) for r in senders])


def deal_out(
    name: str, comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, cut: Cut, root: int, tag: int
) -> None:
    """Scatter; the root's `recvbuf` None means that its block stays in place."""
    if comm.Get_rank() != root:
        receive(comm, required(recvbuf, "a rank that receives its block"), root, tag)
        return
    whole = required(sendbuf, f"the root of a {name}")
    layout = cut(whole, comm.Get_size())
    layout.take(whole, root, recvbuf)
    receivers = [r for r in range(layout.p) if r != root and layout.size(r)]
    wait_all([comm.Isend(layout.block(whole, r), r, tag) for r in receivers])


# On paper ------------------------------------------------------------------------------------------------------------


def leaves(case: Case) -> list[tuple[int, int]]:
    """The other ranks that have or get something, with the bytes of their blocks."""
    layout = case.layout
    sizes = [(r, layout.size(r) * case.itemsize) for r in range(case.p) if r != case.root]
    return [(r, nbytes) for r, nbytes in sizes if nbytes]


def up(case: Case) -> Iterator[Round]:
    """The schedule of a gather."""
    for rank, nbytes in leaves(case):
        yield [Transfer(rank, case.root, nbytes)]


def down(case: Case) -> Iterator[Round]:
    """The schedule of a scatter."""
    for rank, nbytes in leaves(case):
        yield [Transfer(case.root, rank, nbytes)]


def sent_up(case: Case, rank: int) -> int:
    """What a rank sends in a gather."""
    return 0 if rank == case.root else case.layout.size(rank) * case.itemsize


def sent_down(case: Case, rank: int) -> int:
    """What a rank sends in a scatter."""
    return all_but_own(case, rank) if rank == case.root else 0


def one_by_one(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    """The time of one message after the other."""
    return sum(message(nbytes, t_s, t_w) for _, nbytes in leaves(case))


class Way(TypedDict):
    """Who sends how much to whom, to stand beside a pace: `Algorithm(..., **TO_THE_ROOT, **EQUAL)`."""

    schedule: Callable[[Case], Schedule]
    closed_sent: Callable[[Case, int], int]


TO_THE_ROOT: Final = Way(schedule=up, closed_sent=sent_up)
FROM_THE_ROOT: Final = Way(schedule=down, closed_sent=sent_down)
EQUAL: Final = one_message_a_round(others)
ANY_SIZE: Final = Pace(closed_rounds=lambda case: len(leaves(case)), closed_time=one_by_one)
