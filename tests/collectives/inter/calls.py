"""One rank's call of a collective between two groups, and what numpy says must come out; for any MPI.

Rank i of A gives what `contents(i)` gives, rank j of B what `contents(100 + j)` gives. A rooted operation has its root in
A. `prepare(operation, side, ops)` makes the call; a new operation needs one function, entered in PREPARE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from collectives import Algorithm, Case
from collectives.between.groups import Part
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Op
from tests.collectives.calls import Call, blank, contents
from tests.collectives.cases import REDUCING
from tests.collectives.ops import LOCAL
from tests.collectives.reduction_checks import combination, operand


@dataclass(frozen=True)
class Side:
    """A case as one rank sees it, and where its buffers come from."""

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

    def contents(self, number: int, size: int) -> Any:
        """What a rank has to give."""
        return contents(number, size, self.case.itemsize)

    def operand(self, size: int) -> Any:
        """What this rank gives to a reduction."""
        return operand(self.case, self.number, size)

    def combination(self, size: int) -> Any:
        """What the other group's operands make together."""
        return combination(self.case, self.others, size)

    def blank(self, size: int) -> Any:
        return blank(size, self.case.itemsize)

    def join(self, blocks: Sequence[Any]) -> Any:
        return np.concatenate(blocks)

    def copy(self, buffer: Any) -> Any:
        return buffer.copy()


def prepare(operation: str, side: Side, ops: Mapping[str, Op] = LOCAL) -> Call:
    """The call of one rank."""
    call = PREPARE[operation](side)
    if operation in REDUCING:
        call.kwargs["op"] = ops["sum" if side.case.commutative else "compose"]
    return call


def keywords(case: Case, in_a: bool) -> dict[str, Any]:
    """The case's parameters as this side says them: on paper `first` is A's word, B says the opposite."""
    found = dict(case.parameters)
    if found.get("first") is not None:
        found["first"] = found["first"] == in_a
    return found


def check(algorithm: Algorithm, inter: Any, local: Any, case: Case, in_a: bool, ops: Mapping[str, Op] = LOCAL) -> Call:
    """Run the algorithm on this rank and raise AssertionError if the result is wrong."""
    call = prepare(algorithm.operation, Side(case, in_a, local.Get_rank()), ops)
    algorithm.run(inter, local, *call.args, **call.kwargs, **keywords(case, in_a))
    where = f"{algorithm!r} on rank {local.Get_rank()} of {'A' if in_a else 'B'} in {case}"
    np.testing.assert_array_equal(call.result, call.expected, err_msg=where)
    for buffer, before in call.untouched:
        np.testing.assert_array_equal(buffer, before, err_msg=f"{where} changed its input")
    return call


def _call(side: Side, args: tuple[Any, ...], result: Any, expected: Any, mine: Any) -> Call:
    return Call(args, {}, result, expected, ((mine, side.copy(mine)),))


def _rooted(side: Side, args: tuple[Any, ...], result: Any, expected: Any) -> Call:
    return Call(args, {"root": side.root}, result, expected)


def _nothing(args: int, side: Side) -> Call:
    """A rank beside the root: it has no buffers at all."""
    return _rooted(side, (None,) * args, side.blank(0), side.blank(0))


def _blocks(side: Side) -> Any:
    """The blocks of the other group, one after the other."""
    layout = side.other.layout
    return side.join([side.contents(number, layout.size(rank)) for rank, number in enumerate(side.others)])


def prepare_barrier(side: Side) -> Call:
    return Call((), {}, side.blank(0), side.blank(0))


def prepare_reduce(side: Side) -> Call:
    size = side.case.m_b // side.case.itemsize
    if side.root is Part.PROC_NULL:
        return _nothing(2, side)
    if side.root is Part.ROOT:
        recvbuf = side.blank(size)
        return _rooted(side, (None, recvbuf), recvbuf, side.combination(size))
    mine = side.operand(size)
    return _rooted(side, (mine, None), mine, side.copy(mine))


def prepare_bcast(side: Side) -> Call:
    if side.root is Part.PROC_NULL:
        return _nothing(1, side)
    message = side.contents(side.case.root, side.case.elements)
    buf = side.copy(message) if side.root is Part.ROOT else side.blank(message.size)
    return _rooted(side, (buf,), buf, message)


def prepare_gather(side: Side) -> Call:
    counts = () if side.case.counts_b is None else (side.case.counts_b,)
    if side.root is Part.PROC_NULL:
        return _nothing(2 + len(counts), side)
    if side.root is Part.ROOT:
        expected = _blocks(side)
        recvbuf = side.blank(expected.size)
        return _rooted(side, (None, recvbuf, *counts), recvbuf, expected)
    mine = side.contents(side.number, side.own.layout.size(side.rank))
    return _rooted(side, (mine, None, *(None for _ in counts)), mine, side.copy(mine))


def prepare_scatter(side: Side) -> Call:
    case = side.case
    sizes = [case.elements] * case.q if case.counts_b is None else list(case.counts_b)
    counts = () if case.counts_b is None else (case.counts_b,)
    if side.root is Part.PROC_NULL:
        return _nothing(2 + len(counts), side)
    if side.root is Part.ROOT:
        sendbuf = side.join([side.contents(100 + rank, size) for rank, size in enumerate(sizes)])
        return _rooted(side, (sendbuf, None, *counts), sendbuf, side.copy(sendbuf))
    recvbuf, expected = side.blank(sizes[side.rank]), side.contents(side.number, sizes[side.rank])
    return _rooted(side, (None, recvbuf, *(None for _ in counts)), recvbuf, expected)


def prepare_allgather(side: Side) -> Call:
    mine = side.contents(side.number, side.own.layout.size(side.rank))
    expected = _blocks(side)
    recvbuf = side.blank(expected.size)
    counts = () if side.other.counts is None else (side.other.counts,)
    return _call(side, (mine, recvbuf, *counts), recvbuf, expected, mine)


def _between(side: Side, outgoing: bool) -> list[Any]:
    """What this rank has for each rank over there, or they have for it."""
    case, found = side.case, []
    from_a = side.in_a == outgoing
    traffic, nbytes = (case.traffic, case.m) if from_a else (case.traffic_b, case.m_b)
    for rank, number in enumerate(side.others):
        row, column = (side.rank, rank) if outgoing else (rank, side.rank)
        size = nbytes // case.itemsize if traffic is None else traffic[row][column]
        source, dest = (side.number, number) if outgoing else (number, side.number)
        found.append(side.contents(source + 41 * dest, size))
    return found


def prepare_alltoall(side: Side) -> Call:
    outgoing, incoming = _between(side, True), _between(side, False)
    mine, expected = side.join(outgoing), side.join(incoming)
    recvbuf = side.blank(expected.size)
    counts: tuple[Any, ...] = ()
    if side.case.traffic is not None:
        counts = ([block.size for block in outgoing], [block.size for block in incoming])
    return _call(side, (mine, recvbuf, *counts), recvbuf, expected, mine)


def prepare_alltoallw(side: Side) -> Call:
    """The blocks lie one after the other in one array, so that the result can be compared in one go."""
    call = prepare_alltoall(side)
    mine, recvbuf, *counts = call.args
    out, into = (Layout.of(each) for each in counts)
    call.args = (
        [out.block(mine, rank) for rank in range(out.p)],
        [into.block(recvbuf, rank) for rank in range(into.p)],
    )
    return call


def prepare_allreduce(side: Side) -> Call:
    mine, expected = side.operand(side.own.elements), side.combination(side.other.elements)
    recvbuf = side.blank(expected.size)
    return _call(side, (mine, recvbuf), recvbuf, expected, mine)


def prepare_reduce_scatter(side: Side) -> Call:
    layout = side.own.layout
    total, start, block = layout.size(0, layout.p), layout.start(side.rank), layout.size(side.rank)
    mine, recvbuf = side.operand(total), side.blank(block)
    expected = side.combination(total)[start : start + block]
    counts = () if side.own.counts is None else (side.own.counts,)
    return _call(side, (mine, recvbuf, *counts), recvbuf, expected, mine)


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
