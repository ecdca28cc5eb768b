"""What a rank hands to an algorithm in a given case: buffers of the right sizes that have no contents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives import Algorithm, Case
from collectives.between.groups import Part
from fakempi.mpi.buffers.phantom import phantom
from fakempi.mpi.operations.op import SUM

ROOTED = ("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce")
REDUCING = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")

Arguments = tuple[list[Any], dict[str, Any]]


def call(algorithm: Algorithm, case: Case, comm: Any) -> None:
    """Call the algorithm on one rank of a communicator of p ranks, or of p + q, which are then two groups."""
    rank = comm.Get_rank()
    if algorithm.kind == "intra":
        args, keywords = _within(algorithm.operation, case, rank)
        algorithm.run(comm, *args, **keywords, **case.parameters)
        return
    if algorithm.kind == "split":  # two groups, each in reverse order
        algorithm.run(comm, rank % 2, case.p - rank, **case.parameters)
        return
    in_a = rank < case.p
    local = comm.Split(0 if in_a else 1, rank)
    inter = local.Create_intercomm(0, comm, case.p if in_a else 0)
    args, keywords = _between(algorithm.operation, case, in_a, local.Get_rank())
    parameters = dict(case.parameters)
    if "first" in parameters:  # which is A's word
        parameters["first"] = parameters["first"] == in_a
    algorithm.run(inter, local, *args, **keywords, **parameters)


def _buffer(case: Case, elements: int) -> Any:
    return phantom(elements * case.itemsize, case.itemsize)


def _parts(case: Case, counts: Sequence[int]) -> list[Any]:
    return [_buffer(case, count) for count in counts]


def _keywords(operation: str, root: Any) -> dict[str, Any]:
    keywords = {"root": root} if operation in ROOTED else {}
    return {**keywords, "op": SUM} if operation in REDUCING else keywords


def _within(operation: str, case: Case, rank: int) -> Arguments:
    """Of one group."""
    at_root = rank == case.root
    whole, everything = case.elements, case.layout.size(0, case.p)
    own, counts = case.layout.size(rank), [] if case.counts is None else [case.counts]
    keywords = _keywords(operation, case.root)
    match operation:
        case "barrier":
            return [], keywords
        case "bcast":
            return [_buffer(case, whole)], keywords
        case "gather" | "gatherv":
            return [_buffer(case, own), _buffer(case, everything) if at_root else None, *counts], keywords
        case "scatter" | "scatterv":
            return [_buffer(case, everything) if at_root else None, _buffer(case, own), *counts], keywords
        case "allgather" | "allgatherv":
            return [_buffer(case, own), _buffer(case, everything), *counts], keywords
        case "reduce":
            return [_buffer(case, whole), _buffer(case, whole) if at_root else None], keywords
        case "allreduce" | "scan" | "exscan":
            return [_buffer(case, whole), _buffer(case, whole)], keywords
        case "reduce_scatter" | "reduce_scatter_block":
            return [_buffer(case, everything), _buffer(case, own), *counts], keywords
    ranks = range(case.p)
    out = [case.between(rank, other) // case.itemsize for other in ranks]
    into = [case.between(other, rank) // case.itemsize for other in ranks]
    return _exchange(operation, case, out, into), keywords


def _exchange(operation: str, case: Case, out: list[int], into: list[int]) -> list[Any]:
    """What alltoall and its kin take."""
    if operation == "alltoallw":
        return [_parts(case, out), _parts(case, into)]
    counts = [] if case.traffic is None else [out, into]
    return [_buffer(case, sum(out)), _buffer(case, sum(into)), *counts]


def _between(operation: str, case: Case, in_a: bool, rank: int) -> Arguments:
    """Of two groups, with the root in A: rank 0 there has what the whole of B has a part in."""
    own, other = case.groups if in_a else case.groups[::-1]
    root: Any = case.root if not in_a else Part.ROOT if rank == case.root else Part.PROC_NULL
    keywords = _keywords(operation, root)
    if operation in ROOTED:
        return _rooted(operation, case, root, rank), keywords
    mine, others = own.layout.size(rank), other.layout.size(0, other.p)
    match operation:
        case "barrier":
            return [], keywords
        case "allgather" | "allgatherv":
            return [_buffer(case, mine), _buffer(case, others), *([] if other.counts is None else [other.counts])], keywords
        case "allreduce":
            return [_buffer(case, own.elements), _buffer(case, other.elements)], keywords
        case "reduce_scatter" | "reduce_scatter_block":
            total = own.layout.size(0, own.p)
            return [_buffer(case, total), _buffer(case, mine), *([] if own.counts is None else [own.counts])], keywords
    there = range(other.p)
    out_of, into_of = (case.traffic, case.traffic_b) if in_a else (case.traffic_b, case.traffic)
    out = [own.elements] * other.p if out_of is None else list(out_of[rank])
    into = [other.elements] * other.p if into_of is None else [into_of[each][rank] for each in there]
    return _exchange(operation, case, out, into), keywords


def _rooted(operation: str, case: Case, root: Any, rank: int) -> list[Any]:
    counts = [] if case.counts_b is None else [case.counts_b]
    if root is Part.PROC_NULL:
        return [None] * (1 if operation == "bcast" else 2 + len(counts))
    if operation == "bcast":
        return [_buffer(case, case.elements)]
    if operation == "reduce":
        vector = _buffer(case, case.m_b // case.itemsize)
        return [None, vector] if root is Part.ROOT else [vector, None]
    size = (case.m_b if operation.startswith("gather") else case.m) // case.itemsize
    sizes = list(case.counts_b) if case.counts_b is not None else [size] * case.q
    if root is Part.ROOT:
        whole = _buffer(case, sum(sizes))
        return [None, whole, *counts] if operation.startswith("gather") else [whole, None, *counts]
    block = _buffer(case, sizes[rank])
    own = [block, None] if operation.startswith("gather") else [None, block]
    return [*own, *(None for _ in counts)]
