"""Shared by tests of collectives between two groups: the groups, and each call with its expected result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import fakempi
from fakempi import MPI
from tests.helpers.runs import run
from tests.mpi.collective.calls import Array, StridedElements, blank, numbers

SIZES = [(1, 4), (5, 3), (1, 1), (3, 3)]
"""Sizes of the two groups."""


def joined(comm: Any, p: int) -> tuple[Any, int]:
    """The first p ranks and the rest, as an intercommunicator; and the side of this rank, 0 or 1."""
    side = int(comm.rank >= p)
    return comm.Split(side).Create_intercomm(0, comm, 0 if side else p), side


def run_joined(main: Callable[..., Any], p: int, q: int, backend: Any = "auto", **options: Any) -> list[Any]:
    """The results of `main(inter, side)` on p + q ranks."""
    return run(lambda comm: main(*joined(comm, p)), p + q, backend, **options)


@dataclass(frozen=True)
class Setting:
    """Two groups, a root in one of them, and the form of the data."""

    p: int
    q: int
    root_side: int = 0
    root: int = 0
    count: int = 3
    letter: str = "d"
    form: str = "plain"

    @property
    def sizes(self) -> tuple[int, int]:
        return self.p, self.q

    def block(self, side: int, rank: int, count: int, salt: int = 0) -> Array:
        """Numbers that identify a rank."""
        return numbers(rank + 100 * side, count, self.letter, salt)

    def part(self, side: int, rank: int) -> int:
        """The root argument of a rank."""
        if side != self.root_side:
            return self.root
        return MPI.ROOT if rank == self.root else MPI.PROC_NULL


class Call(NamedTuple):
    """A collective: its name, its arguments, the buffer to read afterwards, and the expected contents."""

    name: str
    args: tuple[Any, ...]
    read: Callable[[], Any]
    expected: Any


def calls(s: Setting, side: int, rank: int) -> Iterator[Call]:
    """Each collective on buffers, as a rank calls it. New buffers for each call; irrelevant buffers are None."""
    own, other = s.sizes[side], s.sizes[1 - side]
    in_root_group = side == s.root_side
    root, at_root, n = s.part(side, rank), in_root_group and rank == s.root, s.count
    n_own, n_other = n + side, n + 1 - side  # where the groups may have blocks of other sizes
    theirs = [s.block(1 - side, r, n) for r in range(other)]

    def laid(values: Array, blocks: int = 1) -> StridedElements:
        return StridedElements(values, s.form, blocks)

    def room(count: int, blocks: int = 1) -> StridedElements:
        return laid(blank(count, s.letter), blocks)

    yield Call("Barrier", (), lambda: None, None)

    sent = s.block(s.root_side, s.root, n, 1)
    data = None if in_root_group and not at_root else laid(sent) if at_root else room(n)
    yield Call("Bcast", (data and data.spec, root), lambda: data and data.contents(), data and sent.tolist())

    mine, into = laid(s.block(side, rank, n)), room(n * other, other)
    whole = np.concatenate(theirs).tolist()
    args = (None if in_root_group else mine.spec, into.spec if at_root else None, root)
    yield Call("Gather", args, lambda: at_root and into.contents(), at_root and whole)

    out, share = laid(s.block(side, rank, n * other, 2), other), room(n)
    leaves = s.sizes[1 - s.root_side]
    scattered = s.block(s.root_side, s.root, n * leaves, 2).reshape(leaves, n)
    args = (out.spec if at_root else None, None if in_root_group else share.spec, root)
    yield Call("Scatter", args, lambda: in_root_group or share.contents(), in_root_group or scattered[rank].tolist())

    given, everything = laid(s.block(side, rank, n_own)), room(n_other * other, other)
    whole = np.concatenate([s.block(1 - side, r, n_other) for r in range(other)]).tolist()
    yield Call("Allgather", (given.spec, everything.spec), everything.contents, whole)

    row, swapped = laid(s.block(side, rank, n_own * other, 2), other), room(n_other * other, other)
    rows = [s.block(1 - side, r, n_other * own, 2).reshape(own, n_other)[rank] for r in range(other)]
    yield Call("Alltoall", (row.spec, swapped.spec), swapped.contents, np.concatenate(rows).tolist())

    yield from uneven_calls(s, side, rank)
    yield from reductions(s, side, rank)


def uneven_calls(s: Setting, side: int, rank: int) -> Iterator[Call]:
    """Calls with blocks of different sizes, some of them empty."""
    other = s.sizes[1 - side]
    in_root_group = side == s.root_side
    root, at_root = s.part(side, rank), in_root_group and rank == s.root

    def size(of: int, r: int, to: int = 0) -> int:
        return (s.count + of + r + 2 * to) % 4

    def blocks(of: int, r: int) -> list[Array]:
        return [s.block(of, r, size(of, r, to), to) for to in range(s.sizes[1 - of])]

    mine, theirs = s.block(side, rank, size(side, rank)), [s.block(1 - side, r, size(1 - side, r)) for r in range(other)]
    counts, whole = [len(block) for block in theirs], np.concatenate(theirs).tolist()

    into = blank(sum(counts), s.letter)
    args: tuple[Any, ...] = (None if in_root_group else mine, [into, counts] if at_root else None, root)
    yield Call("Gatherv", args, lambda: at_root and into.tolist(), at_root and whole)

    everything = blank(sum(counts), s.letter)
    yield Call("Allgatherv", (mine, [everything, counts]), everything.tolist, whole)

    out = blocks(side, rank)
    lengths, packed = [len(block) for block in out], np.concatenate(out)
    share = blank(size(1 - side, s.root, rank), s.letter)
    args = ([packed, lengths] if at_root else None, None if in_root_group else share, root)
    scattered = in_root_group or blocks(1 - side, s.root)[rank].tolist()
    yield Call("Scatterv", args, lambda: in_root_group or share.tolist(), scattered)

    rows = [blocks(1 - side, r)[rank] for r in range(other)]
    came, swapped = [len(block) for block in rows], np.concatenate(rows).tolist()
    crossed = blank(sum(came), s.letter)
    yield Call("Alltoallv", ([packed, lengths], [crossed, came]), crossed.tolist, swapped)

    kind, width = MPI.Datatype.fromcode(s.letter), packed.itemsize
    apart = blank(sum(came), s.letter)

    def in_rows(memory: Array, each: list[int]) -> Any:
        return [memory, each, [width * sum(each[:i]) for i in range(other)], [kind] * other]

    args = in_rows(packed, lengths), in_rows(apart, came)
    yield Call("Alltoallw", args, apart.tolist, swapped)


def reductions(s: Setting, side: int, rank: int) -> Iterator[Call]:
    """Maxima, which every kind of number has and which do not depend on the order."""
    own, other = s.sizes[side], s.sizes[1 - side]
    in_root_group = side == s.root_side
    root, at_root, total = s.part(side, rank), in_root_group and rank == s.root, s.p * s.q * s.count

    def operand(of: int, r: int) -> Array:
        return s.block(of, r, total, 3)

    form = s.form if s.form in ("listed", "shifted") else "plain"  # predefined operations take no derived datatypes
    best: Array = np.max([operand(1 - side, r) for r in range(other)], axis=0)
    mine = StridedElements(operand(side, rank), form)

    def room(count: int) -> StridedElements:
        return StridedElements(blank(count, s.letter), form)

    into, everywhere, each = room(total), room(total), total // own
    args: tuple[Any, ...] = (None if in_root_group else mine.spec, into.spec if at_root else None, MPI.MAX, root)
    yield Call("Reduce", args, lambda: at_root and into.contents(), at_root and best.tolist())
    yield Call("Allreduce", (mine.spec, everywhere.spec, MPI.MAX), everywhere.contents, best.tolist())

    share, whole = room(each), StridedElements(operand(side, rank), form, own)
    expected = best[rank * each : (rank + 1) * each].tolist()
    yield Call("Reduce_scatter_block", (whole.spec, share.spec, MPI.MAX), share.contents, expected)

    counts = [0] * (own - 1) + [total]
    counts[0] += min(total, s.count)
    counts[-1] -= min(total, s.count)
    at, piece = sum(counts[:rank]), room(counts[rank])
    args = (mine.spec, piece.spec, counts, MPI.MAX)
    yield Call("Reduce_scatter", args, piece.contents, best[at : at + counts[rank]].tolist())


def phantoms(s: Setting, side: int, rank: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Each collective on phantom buffers, of 8 bytes per element."""
    own, other = s.sizes[side], s.sizes[1 - side]
    in_root_group, root, m = side == s.root_side, s.part(side, rank), 8 * s.count
    at_root = in_root_group and rank == s.root

    def ghost(nbytes: int) -> Any:
        return fakempi.phantom(nbytes, 8)

    total = m * s.p * s.q
    mine, all_of_it = None if in_root_group else ghost(m), ghost(m * other)
    yield "Barrier", ()
    yield "Bcast", (ghost(m) if at_root or not in_root_group else None, root)
    yield "Gather", (mine, all_of_it if at_root else None, root)
    yield "Scatter", (all_of_it if at_root else None, mine, root)
    yield "Gatherv", (mine, all_of_it if at_root else None, root)
    yield "Scatterv", (all_of_it if at_root else None, mine, root)
    for name in "Allgather", "Allgatherv":
        yield name, (ghost(m), all_of_it)
    for name in "Alltoall", "Alltoallv":
        yield name, (ghost(m * other), all_of_it)
    each = [[m] * other, [m * i for i in range(other)], [MPI.BYTE] * other]
    yield "Alltoallw", ([ghost(m * other), *each], [all_of_it, *each])
    yield "Reduce", (mine, ghost(m) if at_root else None, MPI.SUM, root)
    yield "Allreduce", (ghost(m), ghost(m))
    yield "Reduce_scatter_block", (ghost(total), ghost(total // own))
    yield "Reduce_scatter", (ghost(total), ghost(total // own), [total // own // 8] * own)
