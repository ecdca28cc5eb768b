"""Helpers for tests of collectives: buffers described in every way, and one call of each collective."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fakempi
from fakempi import MPI
from fakempi.errors import RankError

Array = npt.NDArray[Any]
LETTERS = "?bBhHiIlLqQefdgFDG"
FORMS = ["plain", "listed", "shifted", "holes", "pieces", "bytes", "two-dimensional"]
"""Ways to describe contiguous elements."""

GAP = 77
"""The filler between elements, which must be unchanged afterwards."""


def null_when_freed_between(name: str, arguments: Callable[[Any], Any]) -> None:
    """A call that is made twice, and again from the same line after its communicator was freed, is rejected."""

    def main(comm: Any) -> None:
        other = comm.Dup()
        for turn in range(3):
            if turn == 2:
                other.Free()
            getattr(other, name)(*arguments(comm))

    with pytest.raises(RankError, match=f"{name} on rank .: the communicator is null"):
        fakempi.run(main, 2)


def numbers(rank: int, count: int, letter: str, salt: int = 0) -> Array:
    """Numbers that every type can hold; different on every rank."""
    return ((np.arange(count) * 7 + 13 * rank + salt) % (2 if letter == "?" else 50)).astype(letter)


def typed(letter: str) -> Any:
    """The datatype of a numpy type code."""
    return MPI.Datatype.fromcode(letter)


class StridedElements:
    """Elements in memory: `spec` describes them, `contents()` returns the current ones. Gaps must not change."""

    def __init__(self, values: Array, form: str, blocks: int = 1) -> None:
        count, self.form, self.values, letter = len(values), form, values.copy(), values.dtype.char
        datatype, each = typed(letter), len(values) // blocks
        self.step = self.start = 1
        self.spec: Any
        if form == "shifted":
            self.memory = np.full(count + 2, GAP, values.dtype)
            self.spec = [self.memory, (each, 1), datatype]
        elif form == "holes":
            self.step, self.start = 2, 0
            self.memory = np.full(2 * count, GAP, values.dtype)
            self.spec = [self.memory, each, datatype.Create_resized(0, 2 * values.itemsize).Commit()]
        elif form == "pieces" and each:
            self.step, self.start = 2, 0
            self.memory = np.full(2 * count, GAP, values.dtype)
            spread = datatype.Create_vector(each, 1, 2).Create_resized(0, 2 * each * values.itemsize).Commit()
            self.spec = [self.memory, 1, spread]
        else:
            self.start = 0
            self.memory = np.full(count, GAP, values.dtype)
            whole = {"listed": [self.memory, datatype], "bytes": self.memory.view("B").data}
            self.spec = whole.get(form, self.memory)
        self._elements()[...] = values
        if form == "two-dimensional" and count % 2 == 0:
            self.spec = self.memory.reshape(2, -1, order="F" if count % 4 else "C")

    def _elements(self) -> Array:
        return self.memory[self.start : self.start + self.step * len(self.values) : self.step]

    def contents(self) -> list[Any]:
        """The elements, after a check of the gaps."""
        gaps = np.ones(len(self.memory), bool)
        gaps[self.start : self.start + self.step * len(self.values) : self.step] = False
        assert (self.memory[gaps] == np.full(1, GAP, self.memory.dtype)[0]).all()
        found: list[Any] = self._elements().tolist()
        return found


def blank(count: int, letter: str) -> Array:
    """Return space for elements, filled with a value that no rank sends."""
    return np.full(count, 1 if letter == "?" else 99, letter)


class ScatteredBlocks:
    """Blocks of different sizes in memory, with displacements, in any order and with gaps; `spec` describes them."""

    def __init__(self, blocks: list[Array], order: list[int], *, holes: bool = False, bare: bool = False) -> None:
        self.step, self.counts = 2 if holes else 1, [len(block) for block in blocks]
        self.displs = [0] * len(blocks)
        at = 0
        for i in order:
            self.displs[i], at = at, at + self.counts[i] + (0 if bare else 1)
        dtype = blocks[0].dtype
        self.memory = np.full(max(at, 1) * self.step, GAP, dtype)
        for place, block in zip(self._places(), blocks, strict=True):
            place[...] = block
        datatype = typed(dtype.char)
        if holes:
            datatype = datatype.Create_resized(0, 2 * dtype.itemsize).Commit()
        self.spec: Any = [self.memory, self.counts, self.displs, datatype]
        if bare and not holes and order == sorted(order):
            self.spec = [self.memory, self.counts]

    def _places(self) -> list[Array]:
        ends = [displ + count for displ, count in zip(self.displs, self.counts, strict=True)]
        stretches = [slice(at * self.step, end * self.step, self.step) for at, end in zip(self.displs, ends, strict=True)]
        return [self.memory[stretch] for stretch in stretches]

    def contents(self) -> list[Any]:
        """The elements of each block, after a check of the gaps."""
        gaps = np.ones(len(self.memory), bool)
        for displ, count in zip(self.displs, self.counts, strict=True):
            gaps[displ * self.step : (displ + count) * self.step : self.step] = False
        assert (self.memory[gaps] == np.full(1, GAP, self.memory.dtype)[0]).all()
        return [place.tolist() for place in self._places()]


def operations(comm: Any, root: int = 0) -> Iterator[tuple[str, tuple[Any, ...], Callable[[], Any]]]:
    """Each collective on buffers: its name, its arguments, and the buffer to read afterwards. New buffers for each call."""
    p, rank = comm.size, comm.rank
    at_root = rank == root
    mine, many = np.arange(3.0) + 10 * rank, np.arange(2.0 * p) + 100 * rank
    counts = [i % 3 for i in range(p)]
    some = np.full(counts[rank], 1.0 + rank)
    total = sum(counts)
    here, there, everything = np.full(3, -1.0), np.full(2, -1.0), np.full(3 * p, -1.0)
    yield "Barrier", (), lambda: None
    data = np.arange(5) * (rank == root)
    yield "Bcast", (data, root), data.tolist
    yield "Gather", (mine, everything if at_root else None, root), everything.tolist
    gathered = np.full(total, -1.0)
    yield "Gatherv", (some, [gathered, counts] if at_root else None, root), gathered.tolist
    yield "Scatter", (many if at_root else None, there, root), there.tolist
    part = np.full(counts[rank], -1.0)
    yield "Scatterv", ([np.arange(float(total)), counts] if at_root else None, part, root), part.tolist
    all_of_it = np.full(3 * p, -1.0)
    yield "Allgather", (mine, all_of_it), all_of_it.tolist
    pieces = np.full(total, -1.0)
    yield "Allgatherv", (some, [pieces, counts]), pieces.tolist
    swapped = np.full(2 * p, -1.0)
    yield "Alltoall", (many, swapped), swapped.tolist
    out, into = [(rank + i) % 3 for i in range(p)], np.full(sum((rank + i) % 3 for i in range(p)), -1.0)
    yield "Alltoallv", ([np.arange(float(sum(out))) + 100 * rank, out], [into, out]), into.tolist
    crossed = np.full(p, -1, "i")
    places = list(range(0, 4 * p, 4))
    yield "Alltoallw", (
        [np.arange(p, dtype="i") + 10 * rank, [1] * p, places, [MPI.INT] * p],
        [crossed, [1] * p, places[::-1], [MPI.INT] * p],
    ), crossed.tolist
    yield "Reduce", (mine, here if at_root else None, MPI.SUM, root), here.tolist
    everywhere = np.full(3, -1.0)
    yield "Allreduce", (mine, everywhere, MPI.MAX), everywhere.tolist
    share = np.full(2, -1.0)
    yield "Reduce_scatter_block", (many, share), share.tolist
    portion = np.full(counts[rank], -1.0)
    yield "Reduce_scatter", (np.arange(float(total)) + rank, portion, counts, MPI.PROD), portion.tolist
    prefix, before = np.full(3, -1.0), np.full(3, -1.0)
    yield "Scan", (mine, prefix), prefix.tolist
    yield "Exscan", (mine, before, MPI.MIN), before.tolist


def nonblocking(name: str) -> str:
    """The name of the nonblocking call: Bcast is Ibcast."""
    return "I" + name[0].lower() + name[1:]
