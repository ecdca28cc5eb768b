"""Rooted operations between groups: who takes which part, and one message between the root and each rank over there.

The root says `Part.ROOT`, the other ranks of its group `Part.PROC_NULL`: these send nothing, receive nothing and return
at once. The ranks of the other group, the leaves, name the root's rank. On paper the root is rank `case.root` of A and
the leaves are B.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral

from collectives.between.groups import Part, check_local
from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.tools.blocks import Cut, required
from collectives.tools.messages import receive, send, wait_all
from collectives.tools.protocol import Buffer, Comm, Intercomm


def check_root(inter: Intercomm, local: Comm, root: Part | int) -> None:
    """Refuse what is no root; `local` is looked at too, so that an operation begins with this one call."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    if not isinstance(root, Part) and not (isinstance(root, Integral) and 0 <= root < q):
        raise ValueError(
            f"root must be Part.ROOT, Part.PROC_NULL or a rank of the other group, 0 .. {q - 1}, but it is {root!r}"
        )


def sides(inter: Intercomm, root: Part | int) -> tuple[int, int]:
    """Ranks of the root's group and of the leaves', for a rank of either."""
    own, other = inter.Get_size(), inter.Get_remote_size()
    return (own, other) if isinstance(root, Part) else (other, own)


def take_in(
    name: str, inter: Intercomm, sendbuf: Buffer | None, recvbuf: Buffer | None, cut: Cut, root: Part | int, tag: int
) -> None:
    """Gather: the root starts a receive from each leaf that has something, in rank order, and waits for them all."""
    if root is Part.ROOT:
        whole = required(recvbuf, f"the root of a {name}")
        layout = cut(whole, inter.Get_remote_size())
        layout.check_room(whole)
        wait_all([inter.Irecv(layout.block(whole, leaf), leaf, tag) for leaf in range(layout.p) if layout.size(leaf)])
    elif not isinstance(root, Part):
        send(inter, required(sendbuf, "a rank that sends its block"), root, tag)


def deal_out(
    name: str, inter: Intercomm, sendbuf: Buffer | None, recvbuf: Buffer | None, cut: Cut, root: Part | int, tag: int
) -> None:
    """Scatter: the root starts a send to each leaf that gets something, in rank order, and waits for them all."""
    if root is Part.ROOT:
        whole = required(sendbuf, f"the root of a {name}")
        layout = cut(whole, inter.Get_remote_size())
        layout.check_room(whole)
        wait_all([inter.Isend(layout.block(whole, leaf), leaf, tag) for leaf in range(layout.p) if layout.size(leaf)])
    elif not isinstance(root, Part):
        receive(inter, required(recvbuf, "a rank that receives its block"), root, tag)


# On paper ------------------------------------------------------------------------------------------------------------


def gathered(case: Case) -> list[int]:
    """What the leaves have for the root."""
    layout = case.groups[1].layout
    return [layout.size(rank) * case.itemsize for rank in range(case.q)]


def scattered(case: Case) -> list[int]:
    """What the root has for the leaves: m bytes each, or by B's counts."""
    return [case.m] * case.q if case.counts_b is None else gathered(case)


def up(case: Case) -> Iterator[Round]:
    """The schedule of `take_in`."""
    for rank, nbytes in enumerate(gathered(case)):
        if nbytes:
            yield [Transfer(case.p + rank, case.root, nbytes)]


def down(case: Case) -> Iterator[Round]:
    """The schedule of `deal_out`."""
    for rank, nbytes in enumerate(scattered(case)):
        if nbytes:
            yield [Transfer(case.root, case.p + rank, nbytes)]


def one_by_one(sizes: list[int], t_s: Seconds, t_w: Seconds) -> Seconds:
    """The time of the messages one after the other: the root has one port."""
    return sum(message(nbytes, t_s, t_w) for nbytes in sizes)
