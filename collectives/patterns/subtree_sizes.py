"""Gather and scatter of blocks of any size by a binomial tree, if only the root knows all sizes.

The sizes of subtrees are sent up the tree first. A subtree is a run of consecutive ranks, so its blocks are a run, and a
rank needs only the total size of each child's subtree. Every rank sends its subtree's size to its parent, 8 bytes, except
the children of the root, which knows all sizes. The root is the last rank, as in `inter_patterns.joined`, and has no block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.trees import children, level, parent
from collectives.tools.blocks import spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm

SIZE: Final[Any] = np.empty(0, np.int64)


def gather_at_leaf(comm: Comm, sendbuf: Buffer, tag: int) -> None:
    """Gather, at a rank that is not the root."""
    below = _exchange_sizes(comm, sendbuf.size, tag)
    held: Any = sendbuf
    if below:
        held = spare_memory(sendbuf, sendbuf.size + sum(size for _, size in below))
        held[0 : sendbuf.size] = sendbuf
    start = sendbuf.size
    for child, size in below:
        receive(comm, held[start : start + size], child, tag)
        start += size
    send(comm, held, _parent_rank(comm), tag)


def scatter_at_leaf(comm: Comm, recvbuf: Buffer, tag: int) -> None:
    """Scatter, at a rank that is not the root."""
    below = _exchange_sizes(comm, recvbuf.size, tag)
    held: Any = spare_memory(recvbuf, recvbuf.size + sum(size for _, size in below)) if below else recvbuf
    receive(comm, held, _parent_rank(comm), tag)
    end = held.size
    for child, size in reversed(below):
        send(comm, held[end - size : end], child, tag)
        end -= size
    if below:
        recvbuf[0 : recvbuf.size] = held[0 : recvbuf.size]


def _exchange_sizes(comm: Comm, own: int, tag: int) -> list[tuple[int, int]]:
    """Send the size of this rank's subtree to its parent; return its children with the sizes of their subtrees.

    Sizes are in elements.
    """
    v = comm.Get_rank() + 1
    below = children(v, comm.Get_size())
    sizes = spare_memory(SIZE, len(below) + 1)
    for i, child in enumerate(below):
        receive(comm, sizes[i : i + 1], child - 1, tag)
    sizes[len(below)] = own + sizes[: len(below)].sum()
    if parent(v):
        send(comm, sizes[len(below) :], parent(v) - 1, tag)
    return [(child - 1, int(size)) for child, size in zip(below, sizes, strict=False)]


def _parent_rank(comm: Comm) -> int:
    """The rank of this rank's parent. Relative rank 0 is the root of the tree, which is the last rank."""
    return (parent(comm.Get_rank() + 1) - 1) % comm.Get_size()


# Claims --------------------------------------------------------------------------------------------------------------


def sizes_schedule(p: int) -> Iterator[Round]:
    for k in range(ceil_log2(p)):
        yield [Transfer(v - 1, parent(v) - 1, 8) for v in level(k, p) if parent(v)]


def sizes_sent(rank: int, p: int) -> int:
    """Bytes of sizes that a rank sends."""
    return 8 if rank + 1 < p and parent(rank + 1) else 0


def sizes_held(rank: int, p: int) -> int:
    """Bytes of sizes that a rank holds: those of its children and its own."""
    return 8 * (len(children(rank + 1, p)) + 1) if rank + 1 < p else 0
