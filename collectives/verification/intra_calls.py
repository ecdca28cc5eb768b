"""One rank's call of an operation within a group, and the expected result, which numpy computes.

`prepare(operation, case, rank)` returns the arguments and the expected result of a rank's call; `check(algorithm, comm,
case)` makes the call. A new operation needs one function and an entry in PREPARE; reductions are in `reductions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.tools.protocol import Op
from collectives.verification.calls import Array, CheckedCall, blank, contents, input_only, sizes
from collectives.verification.reduction_ops import LOCAL
from collectives.verification.reductions import REDUCTIONS


def check(algorithm: Algorithm, comm: Any, case: Case, ops: Mapping[str, Op] = LOCAL) -> CheckedCall:
    """Run the algorithm on this rank. Raises AssertionError if the result is wrong."""
    call = prepare(algorithm.operation, case, comm.Get_rank(), ops)
    algorithm.run(comm, *call.args, **call.kwargs, **case.parameters)
    return checked(call, f"{algorithm!r} on rank {comm.Get_rank()} in {case}")


def checked(call: CheckedCall, where: str) -> CheckedCall:
    """Return a call after it was made. Raises AssertionError if the result is wrong or an input changed."""
    for wrong, changes in ((call.wrong_result(), ""), (call.changed_input(), " changed its input")):
        if wrong:
            raise AssertionError(f"{where}{changes}: {wrong.message}")
    return call


def prepare(operation: str, case: Case, rank: int, ops: Mapping[str, Op] = LOCAL) -> CheckedCall:
    if operation in REDUCTIONS:
        call = REDUCTIONS[operation](case, rank)
        call.kwargs["op"] = ops["sum" if case.commutative else "compose"]
        return call
    return PREPARE[operation](case, rank)


def _all_blocks(case: Case) -> Array:
    blocks = [contents(r, size, case.itemsize) for r, size in enumerate(sizes(case))]
    return np.concatenate(blocks)


def _counts(case: Case) -> tuple[Any, ...]:
    return () if case.counts is None else (case.counts,)


def prepare_barrier(case: Case, rank: int) -> CheckedCall:
    nothing = blank(0, 1)
    return CheckedCall((), {}, nothing, nothing)


def prepare_bcast(case: Case, rank: int) -> CheckedCall:
    message = contents(case.root, case.elements, case.itemsize)
    buffer = message.copy() if rank == case.root else blank(case.elements, case.itemsize)
    return CheckedCall((buffer,), {"root": case.root}, buffer, message)


def prepare_gather(case: Case, rank: int) -> CheckedCall:
    mine, everything = contents(rank, sizes(case)[rank], case.itemsize), _all_blocks(case)
    if rank != case.root:
        return input_only((mine, None, *_counts(case)), {"root": case.root}, mine)
    sendbuf, recvbuf = _in_place(case, rank, mine)
    return CheckedCall((sendbuf, recvbuf, *_counts(case)), {"root": case.root}, recvbuf, everything, ((mine, mine.copy()),))


def prepare_scatter(case: Case, rank: int) -> CheckedCall:
    everything = _all_blocks(case)
    mine = contents(rank, sizes(case)[rank], case.itemsize)
    recvbuf = blank(mine.size, case.itemsize)
    if rank != case.root:
        return CheckedCall((None, recvbuf, *_counts(case)), {"root": case.root}, recvbuf, mine)
    sendbuf = everything.copy()
    if case.in_place:
        return CheckedCall((sendbuf, None, *_counts(case)), {"root": case.root}, sendbuf, everything)
    return CheckedCall((sendbuf, recvbuf, *_counts(case)), {"root": case.root}, recvbuf, mine, ((sendbuf, everything),))


def prepare_allgather(case: Case, rank: int) -> CheckedCall:
    mine = contents(rank, sizes(case)[rank], case.itemsize)
    sendbuf, recvbuf = _in_place(case, rank, mine)
    return CheckedCall((sendbuf, recvbuf, *_counts(case)), {}, recvbuf, _all_blocks(case), ((mine, mine.copy()),))


def _in_place(case: Case, rank: int, mine: Array) -> tuple[Array | None, Array]:
    """Return the send and receive buffers of a rank that gathers."""
    recvbuf = blank(sum(sizes(case)), case.itemsize)
    if not case.in_place:
        return mine, recvbuf
    start = case.layout.start(rank)
    recvbuf[start : start + mine.size] = mine
    return None, recvbuf


def _between(case: Case, source: int, dest: int) -> Array:
    return contents(source + 41 * dest, case.between(source, dest) // case.itemsize, case.itemsize)


def prepare_alltoall(case: Case, rank: int) -> CheckedCall:
    outgoing = np.concatenate([_between(case, rank, other) for other in range(case.p)])
    expected = np.concatenate([_between(case, other, rank) for other in range(case.p)])
    recvbuf = outgoing.copy() if case.in_place else blank(expected.size, case.itemsize)
    sendbuf = None if case.in_place else outgoing
    counts: tuple[Any, ...] = ()
    if case.traffic is not None:
        counts = (None if case.in_place else case.traffic[rank], [row[rank] for row in case.traffic])
    return CheckedCall((sendbuf, recvbuf, *counts), {}, recvbuf, expected, ((outgoing, outgoing.copy()),))


def prepare_alltoallw(case: Case, rank: int) -> CheckedCall:
    """Use contiguous blocks of one array, so that one comparison checks the result."""
    call = prepare_alltoall(case, rank)
    sendbuf, recvbuf, sendcounts, recvcounts = call.args
    blocks = None if sendbuf is None else np.split(sendbuf, np.cumsum(sendcounts)[:-1])
    call.args = (blocks, np.split(recvbuf, np.cumsum(recvcounts)[:-1]))
    return call


PREPARE: dict[str, Callable[[Case, int], CheckedCall]] = {
    "barrier": prepare_barrier,
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
}

OPERATIONS = {*PREPARE, *REDUCTIONS}
