"""One rank's call of a collective between two groups, and what numpy says must come out; for any MPI.

Rank i of A gives what `contents(i)` gives, rank j of B what `contents(100 + j)` gives. A rooted operation has its root in
A. `prepare(operation, case, in_a, rank, ops)` makes the call; a new operation needs one function, entered in PREPARE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from collectives import Algorithm, Case
from collectives.groups import Part
from collectives.protocol import Op
from tests.collectives.calls import Array, Call, blank, contents
from tests.collectives.cases import REDUCING
from tests.collectives.ops import LOCAL
from tests.collectives.reduction_checks import combination, operand


@dataclass(frozen=True)
class Side:
    """A case as one rank sees it."""

    case: Case
    in_a: bool
    rank: int

    @property
    def own(self) -> Case:
        return self.case.groups[0 if self.in_a else 1]

    @property
    def other(self) -> Case:
        return self.case.groups[1 if self.in_a else 0]

    @property
    def number(self) -> int:
        return self.rank + (0 if self.in_a else 100)

    @property
    def others(self) -> range:
        """The numbers of the other group."""
        first = 100 if self.in_a else 0
        return range(first, first + self.other.p)

    @property
    def root(self) -> Part | int:
        if not self.in_a:
            return self.case.root
        return Part.ROOT if self.rank == self.case.root else Part.PROC_NULL


def prepare(operation: str, case: Case, in_a: bool, rank: int, ops: Mapping[str, Op] = LOCAL) -> Call:
    """The call of one rank."""
    call = PREPARE[operation](Side(case, in_a, rank))
    if operation in REDUCING:
        call.kwargs["op"] = ops["sum" if case.commutative else "compose"]
    return call


def keywords(case: Case, in_a: bool) -> dict[str, Any]:
    """The case's parameters as this side says them: on paper `first` is A's word, B says the opposite."""
    found = dict(case.parameters)
    if found.get("first") is not None:
        found["first"] = found["first"] == in_a
    return found


def check(algorithm: Algorithm, inter: Any, local: Any, case: Case, in_a: bool, ops: Mapping[str, Op] = LOCAL) -> Call:
    """Run the algorithm on this rank and raise AssertionError if the result is wrong."""
    call = prepare(algorithm.operation, case, in_a, local.Get_rank(), ops)
    algorithm.run(inter, local, *call.args, **call.kwargs, **keywords(case, in_a))
    where = f"{algorithm!r} on rank {local.Get_rank()} of {'A' if in_a else 'B'} in {case}"
    np.testing.assert_array_equal(call.result, call.expected, err_msg=where)
    for buffer, before in call.untouched:
        np.testing.assert_array_equal(buffer, before, err_msg=f"{where} changed its input")
    return call


def _call(args: tuple[Any, ...], kwargs: dict[str, Any], result: Array, expected: Array, mine: Array) -> Call:
    return Call(args, kwargs, result, expected, ((mine, mine.copy()),))


def _nothing(args: int, side: Side) -> Call:
    """A rank beside the root: it has no buffers at all."""
    return Call((None,) * args, {"root": side.root}, blank(0, 1), blank(0, 1))


def _blocks(group: Case, numbers: range) -> list[Array]:
    return [contents(number, group.layout.size(r), group.itemsize) for r, number in enumerate(numbers)]


def prepare_barrier(side: Side) -> Call:
    return Call((), {}, blank(0, 1), blank(0, 1))


def prepare_reduce(side: Side) -> Call:
    size, case = side.case.m_b // side.case.itemsize, side.case
    if side.root is Part.PROC_NULL:
        return _nothing(2, side)
    if side.root is Part.ROOT:
        recvbuf = blank(size, case.itemsize)
        return Call((None, recvbuf), {"root": side.root}, recvbuf, combination(case, side.others, size))
    mine = operand(case, side.number, size)
    return Call((mine, None), {"root": side.root}, mine, mine.copy())


def prepare_bcast(side: Side) -> Call:
    message = contents(side.case.root, side.case.elements, side.case.itemsize)
    if side.root is Part.PROC_NULL:
        return _nothing(1, side)
    buf = message.copy() if side.root is Part.ROOT else blank(message.size, side.case.itemsize)
    return Call((buf,), {"root": side.root}, buf, message)


def prepare_gather(side: Side) -> Call:
    counts = () if side.case.counts_b is None else (side.case.counts_b,)
    if side.root is Part.PROC_NULL:
        return _nothing(2 + len(counts), side)
    if side.root is Part.ROOT:
        expected = np.concatenate(_blocks(side.other, side.others))
        recvbuf = blank(expected.size, side.case.itemsize)
        return Call((None, recvbuf, *counts), {"root": side.root}, recvbuf, expected)
    mine = contents(side.number, side.own.layout.size(side.rank), side.case.itemsize)
    return Call((mine, None, *(None for _ in counts)), {"root": side.root}, mine, mine.copy())


def prepare_scatter(side: Side) -> Call:
    case = side.case
    sizes = [case.elements] * case.q if case.counts_b is None else list(case.counts_b)
    counts = () if case.counts_b is None else (case.counts_b,)
    if side.root is Part.PROC_NULL:
        return _nothing(2 + len(counts), side)
    blocks = [contents(100 + rank, size, case.itemsize) for rank, size in enumerate(sizes)]
    if side.root is Part.ROOT:
        sendbuf = np.concatenate(blocks)
        return Call((sendbuf, None, *counts), {"root": side.root}, sendbuf, sendbuf.copy())
    recvbuf = blank(sizes[side.rank], case.itemsize)
    return Call((None, recvbuf, *(None for _ in counts)), {"root": side.root}, recvbuf, blocks[side.rank])


def prepare_allgather(side: Side) -> Call:
    mine = contents(side.number, side.own.layout.size(side.rank), side.case.itemsize)
    expected = np.concatenate(_blocks(side.other, side.others))
    recvbuf = blank(expected.size, side.case.itemsize)
    counts = () if side.other.counts is None else (side.other.counts,)
    return _call((mine, recvbuf, *counts), {}, recvbuf, expected, mine)


def _between(side: Side, outgoing: bool) -> list[Array]:
    """What this rank has for each rank over there, or they have for it."""
    case, found = side.case, []
    for rank, number in enumerate(side.others):
        from_a = side.in_a == outgoing
        i, j = (side.rank, rank) if side.in_a else (rank, side.rank)
        traffic, nbytes = (case.traffic, case.m) if from_a else (case.traffic_b, case.m_b)
        row, column = (i, j) if from_a else (j, i)
        size = nbytes // case.itemsize if traffic is None else traffic[row][column]
        source, dest = (side.number, number) if outgoing else (number, side.number)
        found.append(contents(source + 41 * dest, size, case.itemsize))
    return found


def prepare_alltoall(side: Side) -> Call:
    outgoing, incoming = _between(side, True), _between(side, False)
    mine, expected = np.concatenate(outgoing), np.concatenate(incoming)
    recvbuf = blank(expected.size, side.case.itemsize)
    counts: tuple[Any, ...] = ()
    if side.case.traffic is not None:
        counts = ([block.size for block in outgoing], [block.size for block in incoming])
    return _call((mine, recvbuf, *counts), {}, recvbuf, expected, mine)


def prepare_alltoallw(side: Side) -> Call:
    """The blocks lie one after the other in one array, so that the result can be compared in one go."""
    call = prepare_alltoall(side)
    mine, recvbuf, sendcounts, recvcounts = call.args
    call.args = (np.split(mine, np.cumsum(sendcounts)[:-1]), np.split(recvbuf, np.cumsum(recvcounts)[:-1]))
    return call


def prepare_allreduce(side: Side) -> Call:
    mine = operand(side.case, side.number, side.own.elements)
    expected = combination(side.case, side.others, side.other.elements)
    recvbuf = blank(expected.size, side.case.itemsize)
    return _call((mine, recvbuf), {}, recvbuf, expected, mine)


def prepare_reduce_scatter(side: Side) -> Call:
    layout = side.own.layout
    total, start, block = layout.size(0, layout.p), layout.start(side.rank), layout.size(side.rank)
    mine = operand(side.case, side.number, total)
    recvbuf = blank(block, side.case.itemsize)
    expected = combination(side.case, side.others, total)[start : start + block]
    counts = () if side.own.counts is None else (side.own.counts,)
    return _call((mine, recvbuf, *counts), {}, recvbuf, expected, mine)


PREPARE: dict[str, Callable[[Side], Call]] = {
    "barrier": prepare_barrier,
    "reduce": prepare_reduce,
    "bcast": prepare_bcast,
    "gather": prepare_gather,
    "gatherv": prepare_gather,
    "scatter": prepare_scatter,
    "scatterv": prepare_scatter,
    "allgather": prepare_allgather,
    "allgatherv": prepare_allgather,
    "alltoall": prepare_alltoall,
    "alltoallv": prepare_alltoall,
    "alltoallw": prepare_alltoallw,
    "allreduce": prepare_allreduce,
    "reduce_scatter": prepare_reduce_scatter,
    "reduce_scatter_block": prepare_reduce_scatter,
}
