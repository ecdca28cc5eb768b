"""Calls of collectives between two groups, for one rank: the arguments, and the expected result, computed by numpy.

The calls run on any MPI library. The root of a rooted operation is in group A. A new operation needs one function and an
entry in PREPARE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.inter_patterns.groups import RootRole
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Op
from collectives.verification.calls import CheckedCall, input_only
from collectives.verification.group_side import GroupSide
from collectives.verification.intra_calls import checked
from collectives.verification.reduction_ops import LOCAL
from collectives.verification.reductions import REDUCTIONS


def prepare(operation: str, side: GroupSide, ops: Mapping[str, Op] = LOCAL) -> CheckedCall:
    """Return the call of one rank, with its op if the operation is a reduction."""
    call = PREPARE[operation](side)
    if operation in REDUCTIONS:
        call.kwargs["op"] = ops["sum" if side.case.commutative else "compose"]
    return call


def keywords(case: Case, in_a: bool) -> dict[str, Any]:
    """Return the parameters that one group passes. `first` is true in one group only: the case has the value for group A."""
    result = dict(case.parameters)
    if result.get("first") is not None:
        result["first"] = result["first"] == in_a
    return result


def check(
    algorithm: Algorithm, inter: Any, local: Any, case: Case, in_a: bool, ops: Mapping[str, Op] = LOCAL
) -> CheckedCall:
    """Run the algorithm on this rank. Raises AssertionError if the result is wrong."""
    call = prepare(algorithm.operation, GroupSide(case, in_a, local.Get_rank()), ops)
    algorithm.run(inter, local, *call.args, **call.kwargs, **keywords(case, in_a))
    return checked(call, f"{algorithm!r} on rank {local.Get_rank()} of {'A' if in_a else 'B'} in {case}")


def _call(side: GroupSide, args: tuple[Any, ...], result: Any, expected: Any, mine: Any) -> CheckedCall:
    """Return a call without a root; it must not change the send buffer `mine`."""
    return CheckedCall(args, {}, result, expected, ((mine, side.copy(mine)),))


def _rooted(side: GroupSide, args: tuple[Any, ...], result: Any, expected: Any) -> CheckedCall:
    return CheckedCall(args, {"root": side.root}, result, expected)


def _call_without_buffers(n_args: int, side: GroupSide) -> CheckedCall:
    """Return the call of a rank in the root's group that is not the root: it has no buffers."""
    return _rooted(side, (None,) * n_args, side.blank(0), side.blank(0))


def _blocks(side: GroupSide) -> Any:
    """Return the concatenated blocks that the ranks of the other group send."""
    layout = side.other.layout
    return side.join([side.contents(number, layout.size(rank)) for rank, number in enumerate(side.others)])


def prepare_barrier(side: GroupSide) -> CheckedCall:
    return CheckedCall((), {}, side.blank(0), side.blank(0))


def prepare_reduce(side: GroupSide) -> CheckedCall:
    size = side.case.m_b // side.case.itemsize
    if side.root is RootRole.PROC_NULL:
        return _call_without_buffers(2, side)
    if side.root is RootRole.ROOT:
        recvbuf = side.blank(size)
        return _rooted(side, (None, recvbuf), recvbuf, side.combination(size))
    mine = side.operand(size)
    return input_only((mine, None), {"root": side.root}, mine)


def prepare_bcast(side: GroupSide) -> CheckedCall:
    if side.root is RootRole.PROC_NULL:
        return _call_without_buffers(1, side)
    message = side.contents(side.case.root, side.case.elements)
    buf = side.copy(message) if side.root is RootRole.ROOT else side.blank(message.size)
    return _rooted(side, (buf,), buf, message)


def prepare_gather(side: GroupSide) -> CheckedCall:
    counts = () if side.case.counts_b is None else (side.case.counts_b,)
    if side.root is RootRole.PROC_NULL:
        return _call_without_buffers(2 + len(counts), side)
    if side.root is RootRole.ROOT:
        expected = _blocks(side)
        recvbuf = side.blank(expected.size)
        return _rooted(side, (None, recvbuf, *counts), recvbuf, expected)
    mine = side.contents(side.number, side.own.layout.size(side.rank))
    return input_only((mine, None, *(None for _ in counts)), {"root": side.root}, mine)


def prepare_scatter(side: GroupSide) -> CheckedCall:
    case = side.case
    sizes = [case.elements] * case.q if case.counts_b is None else list(case.counts_b)
    counts = () if case.counts_b is None else (case.counts_b,)
    if side.root is RootRole.PROC_NULL:
        return _call_without_buffers(2 + len(counts), side)
    if side.root is RootRole.ROOT:
        sendbuf = side.join([side.contents(100 + rank, size) for rank, size in enumerate(sizes)])
        return input_only((sendbuf, None, *counts), {"root": side.root}, sendbuf)
    recvbuf, expected = side.blank(sizes[side.rank]), side.contents(side.number, sizes[side.rank])
    return _rooted(side, (None, recvbuf, *(None for _ in counts)), recvbuf, expected)


def prepare_allgather(side: GroupSide) -> CheckedCall:
    mine = side.contents(side.number, side.own.layout.size(side.rank))
    expected = _blocks(side)
    recvbuf = side.blank(expected.size)
    counts = () if side.other.counts is None else (side.other.counts,)
    return _call(side, (mine, recvbuf, *counts), recvbuf, expected, mine)


def _between(side: GroupSide, outgoing: bool) -> list[Any]:
    """Return the blocks of an all-to-all that this rank sends to the ranks of the other group, or receives from them."""
    case, blocks = side.case, []
    from_a = side.in_a == outgoing
    traffic, nbytes = (case.traffic, case.m) if from_a else (case.traffic_b, case.m_b)
    for rank, number in enumerate(side.others):
        row, column = (side.rank, rank) if outgoing else (rank, side.rank)
        size = nbytes // case.itemsize if traffic is None else traffic[row][column]
        source, dest = (side.number, number) if outgoing else (number, side.number)
        blocks.append(side.contents(source + 41 * dest, size))
    return blocks


def prepare_alltoall(side: GroupSide) -> CheckedCall:
    outgoing, incoming = _between(side, True), _between(side, False)
    mine, expected = side.join(outgoing), side.join(incoming)
    recvbuf = side.blank(expected.size)
    counts: tuple[Any, ...] = ()
    if side.case.traffic is not None:
        counts = ([block.size for block in outgoing], [block.size for block in incoming])
    return _call(side, (mine, recvbuf, *counts), recvbuf, expected, mine)


def prepare_alltoallw(side: GroupSide) -> CheckedCall:
    """Return the call with contiguous blocks of one array, so that one comparison checks the result."""
    call = prepare_alltoall(side)
    mine, recvbuf, *counts = call.args
    out, into = (Layout.of(group_counts) for group_counts in counts)
    call.args = (
        [out.block(mine, rank) for rank in range(out.p)],
        [into.block(recvbuf, rank) for rank in range(into.p)],
    )
    return call


def prepare_allreduce(side: GroupSide) -> CheckedCall:
    mine, expected = side.operand(side.own.elements), side.combination(side.other.elements)
    recvbuf = side.blank(expected.size)
    return _call(side, (mine, recvbuf), recvbuf, expected, mine)


def prepare_reduce_scatter(side: GroupSide) -> CheckedCall:
    layout = side.own.layout
    total, start, block = layout.size(0, layout.p), layout.start(side.rank), layout.size(side.rank)
    mine, recvbuf = side.operand(total), side.blank(block)
    expected = side.combination(total)[start : start + block]
    counts = () if side.own.counts is None else (side.own.counts,)
    return _call(side, (mine, recvbuf, *counts), recvbuf, expected, mine)


PREPARE: dict[str, Callable[[GroupSide], CheckedCall]] = {
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
