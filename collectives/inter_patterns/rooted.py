"""Rooted operations between groups: checks of `root`, and direct messages between the root and each leaf.

The leaves are the ranks of the group without the root. The root passes `RootRole.ROOT`. The other ranks of its group pass
`RootRole.PROC_NULL`; they send nothing, receive nothing and return immediately. The leaves pass the root's rank. In a
`Case`, the root is rank `case.root` of group A, and the leaves are group B.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import LinearPhase, Round, Seconds, Transfer, message
from collectives.inter_patterns.groups import RootRole
from collectives.tools.blocks import Cut, required
from collectives.tools.local import check_local
from collectives.tools.messages import receive, send, wait_all
from collectives.tools.protocol import Buffer, Comm, Intercomm


def check_root(inter: Intercomm, local: Comm, root: RootRole | int) -> None:
    """Raise ValueError for an invalid root or an invalid `local`."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    if not isinstance(root, RootRole) and not (isinstance(root, Integral) and 0 <= root < q):
        raise ValueError(
            f"root must be RootRole.ROOT, RootRole.PROC_NULL or a rank of the other group, 0 .. {q - 1}, but it is {root!r}"
        )


def group_sizes(inter: Intercomm, root: RootRole | int) -> tuple[int, int]:
    """Return the numbers of ranks in the root's group and in the leaves' group, on any rank."""
    local_size, remote_size = inter.Get_size(), inter.Get_remote_size()
    return (local_size, remote_size) if isinstance(root, RootRole) else (remote_size, local_size)


def gather_direct(
    name: str, inter: Intercomm, sendbuf: Buffer | None, recvbuf: Buffer | None, cut: Cut, root: RootRole | int, tag: int
) -> None:
    """Gather: the root starts a receive from each leaf with a nonempty block, in rank order, and waits for all of them."""
    if root is RootRole.ROOT:
        whole = required(recvbuf, f"the root of a {name}")
        layout = cut(whole, inter.Get_remote_size())
        layout.check_size(whole)
        wait_all([inter.Irecv(layout.block(whole, leaf), leaf, tag) for leaf in range(layout.p) if layout.size(leaf)])
    elif not isinstance(root, RootRole):
        send(inter, required(sendbuf, "a rank that sends its block"), root, tag)


def scatter_direct(
    name: str, inter: Intercomm, sendbuf: Buffer | None, recvbuf: Buffer | None, cut: Cut, root: RootRole | int, tag: int
) -> None:
    """Scatter: the root starts a send to each leaf with a nonempty block, in rank order, and waits for all of them."""
    if root is RootRole.ROOT:
        whole = required(sendbuf, f"the root of a {name}")
        layout = cut(whole, inter.Get_remote_size())
        layout.check_size(whole)
        wait_all([inter.Isend(layout.block(whole, leaf), leaf, tag) for leaf in range(layout.p) if layout.size(leaf)])
    elif not isinstance(root, RootRole):
        receive(inter, required(recvbuf, "a rank that receives its block"), root, tag)


# Claims --------------------------------------------------------------------------------------------------------------


def gathered(case: Case) -> list[int]:
    """Bytes that each leaf sends to the root."""
    layout = case.groups[1].layout
    return [layout.size(rank) * case.itemsize for rank in range(case.q)]


def scattered(case: Case) -> list[int]:
    """Bytes that the root sends to each leaf: m, or the sizes that `case.counts_b` gives."""
    return [case.m] * case.q if case.counts_b is None else gathered(case)


def gather_schedule(case: Case) -> Iterator[Round]:
    yield LinearPhase(Transfer(case.p + rank, case.root, nbytes) for rank, nbytes in enumerate(gathered(case)) if nbytes)


def scatter_schedule(case: Case) -> Iterator[Round]:
    yield LinearPhase(Transfer(case.root, case.p + rank, nbytes) for rank, nbytes in enumerate(scattered(case)) if nbytes)


def sequential_time(sizes: list[int], t_s: Seconds, t_w: Seconds) -> Seconds:
    """Time of messages of these sizes one after the other, since the root has one port."""
    return sum(message(nbytes, t_s, t_w) for nbytes in sizes)
