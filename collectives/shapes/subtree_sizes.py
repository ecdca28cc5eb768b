"""Blocks of any size up and down a binomial tree where only the root knows all sizes: how much is in a subtree climbs first.

A subtree is a run of ranks, so its blocks are a run, and a rank needs to know no more than how much each of its children
has in all. Every rank sends that to its parent, 8 bytes, but for the children of the root, which knows. The root is the last
rank, as in `between.joined`, and has no block itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from collectives.catalogue.schedule import Round, Transfer
from collectives.shapes.trees import children, level, parent
from collectives.tools.blocks import scratch
from collectives.tools.messages import receive, send
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm

SIZE: Final[Any] = np.empty(0, np.int64)


def gather_own(comm: Comm, sendbuf: Buffer, tag: int) -> None:
    """Gather, at a rank that is not the root."""
    below = _learn(comm, sendbuf.size, tag)
    held: Any = sendbuf
    if below:
        held = scratch(sendbuf, sendbuf.size + sum(size for _, size in below))
        held[0 : sendbuf.size] = sendbuf
    start = sendbuf.size
    for child, size in below:
        receive(comm, held[start : start + size], child, tag)
        start += size
    send(comm, held, _above(comm), tag)


def scatter_own(comm: Comm, recvbuf: Buffer, tag: int) -> None:
    """Scatter, at a rank that is not the root."""
    below = _learn(comm, recvbuf.size, tag)
    held: Any = scratch(recvbuf, recvbuf.size + sum(size for _, size in below)) if below else recvbuf
    receive(comm, held, _above(comm), tag)
    end = held.size
    for child, size in reversed(below):
        send(comm, held[end - size : end], child, tag)
        end -= size
    if below:
        recvbuf[0 : recvbuf.size] = held[0 : recvbuf.size]


def _learn(comm: Comm, own: int, tag: int) -> list[tuple[int, int]]:
    """The children and what is in their subtrees, in elements; the parent is told what is in this one."""
    v = comm.Get_rank() + 1
    below = children(v, comm.Get_size())
    sizes = scratch(SIZE, len(below) + 1)
    for i, child in enumerate(below):
        receive(comm, sizes[i : i + 1], child - 1, tag)
    sizes[len(below)] = own + sizes[: len(below)].sum()
    if parent(v):
        send(comm, sizes[len(below) :], parent(v) - 1, tag)
    return [(child - 1, int(size)) for child, size in zip(below, sizes, strict=False)]


def _above(comm: Comm) -> int:
    """The parent; 0 is the root, which is the last."""
    return (parent(comm.Get_rank() + 1) - 1) % comm.Get_size()


# On paper ------------------------------------------------------------------------------------------------------------


def sizes_up(p: int) -> Iterator[Round]:
    """The sizes on their way."""
    for k in range(ceil_log2(p)):
        yield [Transfer(v - 1, parent(v) - 1, 8) for v in level(k, p) if parent(v)]


def sizes_sent(rank: int, p: int) -> int:
    """Bytes of them that a rank sends."""
    return 8 if rank + 1 < p and parent(rank + 1) else 0


def sizes_held(rank: int, p: int) -> int:
    """Bytes of them that a rank holds: those of its children and its own."""
    return 8 * (len(children(rank + 1, p)) + 1) if rank + 1 < p else 0
