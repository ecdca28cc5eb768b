"""One rank's call of a collective between two groups, and what numpy says must come out; for any MPI.

A rooted operation has its root in A. `prepare(operation, side, ops)` makes the call; a new operation needs one function,
entered in PREPARE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from collectives.between.groups import Part
from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Op
from collectives.verification.calls import Call, gives
from collectives.verification.one_group import checked
from collectives.verification.ops import LOCAL
from collectives.verification.reductions import REDUCTIONS
from collectives.verification.side import Side


def prepare(operation: str, side: Side, ops: Mapping[str, Op] = LOCAL) -> Call:
    """The call of one rank."""
    call = PREPARE[operation](side)
    if operation in REDUCTIONS:
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
    return checked(call, f"{algorithm!r} on rank {local.Get_rank()} of {'A' if in_a else 'B'} in {case}")


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
    return gives((mine, None), {"root": side.root}, mine)


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
    return gives((mine, None, *(None for _ in counts)), {"root": side.root}, mine)


def prepare_scatter(side: Side) -> Call:
    case = side.case
    sizes = [case.elements] * case.q if case.counts_b is None else list(case.counts_b)
    counts = () if case.counts_b is None else (case.counts_b,)
    if side.root is Part.PROC_NULL:
        return _nothing(2 + len(counts), side)
    if side.root is Part.ROOT:
        sendbuf = side.join([side.contents(100 + rank, size) for rank, size in enumerate(sizes)])
        return gives((sendbuf, None, *counts), {"root": side.root}, sendbuf)
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
