"""Broadcasts and reductions of segments down and up a binary tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.family import member
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.binary_trees.shapes import Shape, step_down
from collectives.patterns.reductions import combine, operand, send_to_root
from collectives.patterns.segmented import SEGMENT_BYTES, exchange_by_step, rounds_by_step, segments_of
from collectives.tools.blocks import Layout, copy_of, load, required, segments, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def send_segments(comm: Comm, shape: Shape, root: int, part: Callable[[int], tuple[Buffer, Layout]], tag: int) -> None:
    """Broadcast down the tree; position 0 is the root. `part(v)` is the data that position v receives, and its segments."""
    p = comm.Get_size()
    v = (comm.Get_rank() - root) % p
    parent, children = shape(v, p)

    def into(position: int, partner: int) -> dict[int, tuple[int, Buffer]]:
        """The steps in which segments enter a position, with the rank of the partner and the segment."""
        buf, pieces = part(position)
        steps = _steps(step_down(shape, position, p), pieces)
        return {step: ((root + partner) % p, pieces.block(buf, k)) for step, k in steps}

    receives = {} if parent is None else into(v, parent)
    sends = {step: message for child in children for step, message in into(child, child).items()}
    exchange_by_step(comm, sends, receives, tag)


def _steps(first: int, pieces: Layout) -> Iterator[tuple[int, int]]:
    return ((first + 2 * k, k) for k in range(pieces.p))


def down_schedule(case: Case, shape: Shape, pieces: Callable[[int], Layout]) -> Iterator[Round]:
    """The schedule of `send_segments`; `pieces(v)` are the segments that enter position v."""
    p = case.p

    def transfers() -> Iterator[tuple[int, Transfer]]:
        for v in range(1, p if case.m else 1):
            parent, layout = shape(v, p).parent, pieces(v)
            assert parent is not None
            for step, k in _steps(step_down(shape, v, p), layout):
                if layout.size(k):
                    yield step, Transfer((case.root + parent) % p, (case.root + v) % p, layout.size(k) * case.itemsize)

    return rounds_by_step(transfers())


# Reductions ----------------------------------------------------------------------------------------------------------


class Upward(NamedTuple):
    """A reduction up a tree: the shape of the tree, the rank at position 0, and the rank at the top of the tree."""

    shape: Shape
    start: int
    top: int


def segmented_reduce(module: str, tree: Callable[[int, int], Upward], **claims: Any) -> Algorithm:
    """Declare the reduce of a module up `tree(root, p)` (`catalogue.family`)."""

    def of(case: Case) -> tuple[Upward, Layout]:
        return tree(case.root, case.p), segments_of(case)

    @member(
        module,
        combine_segments,
        schedule=lambda case: up_schedule(case, *of(case)),
        scratch=lambda case, rank: up_scratch(case, rank, *of(case)),
        closed_sent=lambda case, rank: up_sent(case, rank, of(case)[0]),
        closed_combined=lambda case: None,
        **claims,
    )
    def run(
        comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, op: Op, root: int = 0, tag: int = 0, **parameters: Any
    ) -> None:
        """Leave the result in the root's `recvbuf`; if the root's `sendbuf` is None, `recvbuf` holds its operand."""
        combine_segments(comm, sendbuf, recvbuf, op, tree(root, comm.Get_size()), root, tag, **parameters)

    return run


def combine_segments(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    op: Op,
    tree: Upward,
    root: int,
    tag: int,
    *,
    segment_bytes: int = SEGMENT_BYTES,
) -> None:
    """Leave the result in the root's `recvbuf`; a received segment is the left operand, as in Open MPI."""
    p, rank = comm.Get_size(), comm.Get_rank()
    held = operand(sendbuf, recvbuf, rank, root)
    v = (rank - tree.start) % p
    parent, children = tree.shape(v, p)
    if rank == root == tree.top:
        held = required(recvbuf, "the root of a reduce")
        load(held, sendbuf)
    elif children:
        held = copy_of(held)
    pieces = segments(held.size, held.itemsize, segment_bytes)
    spare = spare_memory(held, pieces.size(0)) if children else held
    own = -step_down(tree.shape, v, p, reverse=True)
    sends = dict(_steps(own, pieces)) if parent is not None else {}
    receives = {
        step: (child, k) for child in children for step, k in _steps(-step_down(tree.shape, child, p, reverse=True), pieces)
    }
    for step in sorted(receives.keys() | sends.keys()):
        outgoing = pieces.block(held, sends[step]) if step in sends else None
        child, k = receives.get(step, (0, None))
        incoming = None if k is None else spare[0 : pieces.size(k)]
        exchange(comm, outgoing, (tree.start + (parent or 0)) % p, incoming, (tree.start + child) % p, tag)
        if k is not None and incoming is not None:
            combine(op, incoming, pieces.block(held, k))
    send_to_root(comm, held, recvbuf, tree.top, root, tag)


def up_schedule(case: Case, tree: Upward, pieces: Layout) -> Iterator[Round]:
    """The schedule of `combine_segments`."""
    p = case.p

    def transfers() -> Iterator[tuple[int, Transfer]]:
        for v in range(p if case.m else 0):
            parent = tree.shape(v, p).parent
            if parent is not None:
                for step, k in _steps(-step_down(tree.shape, v, p, reverse=True), pieces):
                    nbytes = pieces.size(k) * case.itemsize
                    yield step, Transfer((tree.start + v) % p, (tree.start + parent) % p, nbytes, nbytes)

    yield from rounds_by_step(transfers())
    if case.m and tree.top != case.root:
        yield [Transfer(tree.top, case.root, case.m)]


def up_scratch(case: Case, rank: int, tree: Upward, pieces: Layout) -> int:
    """The scratch memory of `combine_segments`: a segment, and a vector unless the rank has a buffer for the result."""
    if not tree.shape((rank - tree.start) % case.p, case.p).children:
        return 0
    return pieces.size(0) * case.itemsize + (0 if rank == case.root == tree.top else case.m)


def up_sent(case: Case, rank: int, tree: Upward) -> int:
    """Bytes that a rank sends: one vector; none at the top, unless it sends the result to the root."""
    return case.m if rank != tree.top or rank != case.root else 0
