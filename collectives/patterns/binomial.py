"""Blocks up and down a binomial tree: shared code of gather(v), scatter(v), and the scatter of broadcasts.

A subtree is a run of relative ranks, so its blocks are a run of blocks. At most one child of the root has a run that
wraps around the end of the root's buffer; only that run is packed. Inner ranks hold the blocks of their subtree in
scratch memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from collectives.catalogue.algorithm import Case, ScheduleAndScratch
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.patterns.trees import children, level, parent, subtree
from collectives.tools.blocks import Layout, required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm


def gather_up(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, layout: Layout, root: int, tag: int) -> None:
    """Gather all blocks to the root; each rank sends the blocks of its subtree to its parent."""
    p, rank = comm.Get_size(), comm.Get_rank()
    v = (rank - root) % p
    if v == 0:
        recvbuf = required(recvbuf, "the root of a gather")
        layout.put(recvbuf, root, sendbuf)
        for child in children(0, p):
            first, count = (root + child) % p, subtree(child, p)
            if first + count <= p:
                receive(comm, layout.block(recvbuf, first, first + count), first, tag)
            else:
                packed = spare_memory(recvbuf, layout.around(first, count))
                receive(comm, packed, first, tag)
                tail = layout.size(first, p)
                layout.block(recvbuf, first, p)[:] = packed[0:tail]
                layout.block(recvbuf, 0, first + count - p)[:] = packed[tail : packed.size]
        return
    sendbuf = held = required(sendbuf, "a rank that sends its block")
    if subtree(v, p) > 1:
        held = spare_memory(sendbuf, layout.around(rank, subtree(v, p)))
        held[0 : sendbuf.size] = sendbuf
        for child in children(v, p):
            start, size = layout.around(rank, child - v), layout.around((root + child) % p, subtree(child, p))
            receive(comm, held[start : start + size], (root + child) % p, tag)
    send(comm, held, (root + parent(v)) % p, tag)


def scatter_down(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, layout: Layout, root: int, tag: int) -> None:
    """Scatter the root's blocks; each rank receives the blocks of its subtree from its parent."""
    p, rank = comm.Get_size(), comm.Get_rank()
    v = (rank - root) % p
    if v == 0:
        sendbuf = required(sendbuf, "the root of a scatter")
        layout.take(sendbuf, root, recvbuf)
        for child in reversed(children(0, p)):
            first, count = (root + child) % p, subtree(child, p)
            if first + count <= p:
                send(comm, layout.block(sendbuf, first, first + count), first, tag)
            else:
                packed = spare_memory(sendbuf, layout.around(first, count))
                tail = layout.size(first, p)
                packed[0:tail] = layout.block(sendbuf, first, p)
                packed[tail : packed.size] = layout.block(sendbuf, 0, first + count - p)
                send(comm, packed, first, tag)
        return
    recvbuf = required(recvbuf, "a rank that receives its block")
    held = recvbuf if subtree(v, p) == 1 else spare_memory(recvbuf, layout.around(rank, subtree(v, p)))
    receive(comm, held, (root + parent(v)) % p, tag)
    for child in reversed(children(v, p)):
        start, size = layout.around(rank, child - v), layout.around((root + child) % p, subtree(child, p))
        send(comm, held[start : start + size], (root + child) % p, tag)
    if subtree(v, p) > 1:
        recvbuf[0 : recvbuf.size] = held[0 : recvbuf.size]


def scatter_pieces(comm: Comm, buf: Buffer, pieces: Layout, root: int, tag: int) -> None:
    """Scatter the root's `buf` over the `buf` of all ranks: relative rank v receives pieces v .. v + subtree - 1."""
    p, rank = comm.Get_size(), comm.Get_rank()
    v = (rank - root) % p
    if v > 0:
        receive(comm, pieces.block(buf, v, v + subtree(v, p)), (root + parent(v)) % p, tag)
    for child in reversed(children(v, p)):
        send(comm, pieces.block(buf, child, child + subtree(child, p)), (root + child) % p, tag)


def gather_up_schedule(case: Case) -> Iterator[Round]:
    """The schedule of `gather_up`."""
    layout = case.layout
    for k in range(ceil_log2(case.p)):
        yield [Transfer(t.dest, t.source, t.nbytes) for t in _edges(layout, case.itemsize, case.root, k)]


def scatter_down_schedule(layout: Layout, itemsize: int, root: int) -> Iterator[Round]:
    """The schedule of `scatter_down`."""
    for k in reversed(range(ceil_log2(layout.p))):
        yield _edges(layout, itemsize, root, k)


def scatter_pieces_schedule(pieces: Layout, itemsize: int, root: int) -> Iterator[Round]:
    """The schedule of `scatter_pieces`: the same tree, with pieces counted from the root."""
    p = pieces.p
    for transfers in scatter_down_schedule(pieces, itemsize, 0):
        yield [Transfer((t.source + root) % p, (t.dest + root) % p, t.nbytes) for t in transfers]


def scratch_bytes(case: Case, rank: int) -> int:
    """Scratch of an inner rank: the blocks of its subtree; at the root: the one run that wraps around, if any."""
    p, layout, root = case.p, case.layout, case.root
    v = (rank - root) % p
    if v > 0:
        return layout.around(rank, subtree(v, p)) * case.itemsize if subtree(v, p) > 1 else 0
    runs = [((root + child) % p, subtree(child, p)) for child in children(0, p)]
    return sum(layout.around(first, count) * case.itemsize for first, count in runs if first + count > p)


def _edges(layout: Layout, itemsize: int, root: int, k: int) -> list[Transfer]:
    """Transfers from parent to child over the edges of length 2^k, with the bytes of the child's subtree."""
    p = layout.p
    return without_empty(
        Transfer((root + parent(v)) % p, (root + v) % p, layout.around((root + v) % p, subtree(v, p)) * itemsize)
        for v in level(k, p)
    )


GATHER_CLAIMS: Final = ScheduleAndScratch(schedule=gather_up_schedule, scratch=scratch_bytes)
SCATTER_CLAIMS: Final = ScheduleAndScratch(
    schedule=lambda case: scatter_down_schedule(case.layout, case.itemsize, case.root), scratch=scratch_bytes
)
