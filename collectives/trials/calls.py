"""What a rank hands to an algorithm in a given case: buffers of the right sizes, whose contents do not matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from collectives.between.groups import Part
from collectives.catalogue.algorithm import Algorithm, Case

ROOTED = ("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce")
REDUCING = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")

New: TypeAlias = Callable[[int], Any]


def two_groups(comm: Any, p: int) -> tuple[Any, Any]:
    """Two groups of a communicator's ranks, the first p and the others: the intercommunicator and the own group."""
    in_a = comm.Get_rank() < p
    local = comm.Split(0 if in_a else 1, comm.Get_rank())
    return local.Create_intercomm(0, comm, p if in_a else 0), local


def prepared(
    algorithm: Algorithm, case: Case, rank: int, comms: Sequence[Any], buffer: Callable[[int, int], Any], op: Any
) -> Callable[[], Any]:
    """One rank's call, to be made as often as one likes.

    `rank` is the number in the case, where B's come after A's; `comms` are a communicator, or what `two_groups` gives;
    `buffer` makes one of so many bytes in all and in an element; `op` is for reductions.
    """

    def new(elements: int) -> Any:
        return buffer(elements * case.itemsize, case.itemsize)

    keywords: dict[str, Any] = dict(case.parameters)
    root: Any = case.root
    if algorithm.kind == "split":  # two groups, each in reverse order
        args = [rank % 2, case.p - rank]
    elif case.q:
        in_a = rank < case.p
        own = rank if in_a else rank - case.p
        root = case.root if not in_a else Part.ROOT if own == case.root else Part.PROC_NULL
        args = _between(algorithm.operation, case, root, in_a, own, new)
        if "first" in keywords:  # which is A's word
            keywords["first"] = keywords["first"] == in_a
    else:
        args = _within(algorithm.operation, case, rank, new)
    if algorithm.operation in ROOTED:
        keywords["root"] = root
    if algorithm.operation in REDUCING:
        keywords["op"] = op
    return lambda: algorithm.run(*comms, *args, **keywords)


def _within(operation: str, case: Case, rank: int, new: New) -> list[Any]:
    """Of one group."""
    at_root = rank == case.root
    whole, everything = case.elements, case.layout.size(0, case.p)
    own, counts = case.layout.size(rank), [] if case.counts is None else [case.counts]
    match operation:
        case "barrier":
            return []
        case "bcast":
            return [new(whole)]
        case "gather" | "gatherv":
            return [new(own), new(everything) if at_root else None, *counts]
        case "scatter" | "scatterv":
            return [new(everything) if at_root else None, new(own), *counts]
        case "allgather" | "allgatherv":
            return [new(own), new(everything), *counts]
        case "reduce":
            return [new(whole), new(whole) if at_root else None]
        case "allreduce" | "scan" | "exscan":
            return [new(whole), new(whole)]
        case "reduce_scatter" | "reduce_scatter_block":
            return [new(everything), new(own), *counts]
    ranks = range(case.p)
    out = [case.between(rank, other) // case.itemsize for other in ranks]
    into = [case.between(other, rank) // case.itemsize for other in ranks]
    return _exchange(operation, case, out, into, new)


def _exchange(operation: str, case: Case, out: list[int], into: list[int], new: New) -> list[Any]:
    """What alltoall and its kin take."""
    if operation == "alltoallw":
        return [list(map(new, out)), list(map(new, into))]
    counts = [] if case.traffic is None else [out, into]
    return [new(sum(out)), new(sum(into)), *counts]


def _between(operation: str, case: Case, root: Any, in_a: bool, rank: int, new: New) -> list[Any]:
    """Of two groups, with the root in A: rank 0 there has what the whole of B has a part in."""
    own, other = case.groups if in_a else case.groups[::-1]
    if operation in ROOTED:
        return _rooted(operation, case, root, rank, new)
    mine, others = own.layout.size(rank), other.layout.size(0, other.p)
    match operation:
        case "barrier":
            return []
        case "allgather" | "allgatherv":
            return [new(mine), new(others), *([] if other.counts is None else [other.counts])]
        case "allreduce":
            return [new(own.elements), new(other.elements)]
        case "reduce_scatter" | "reduce_scatter_block":
            total = own.layout.size(0, own.p)
            return [new(total), new(mine), *([] if own.counts is None else [own.counts])]
    there = range(other.p)
    out_of, into_of = (case.traffic, case.traffic_b) if in_a else (case.traffic_b, case.traffic)
    out = [own.elements] * other.p if out_of is None else list(out_of[rank])
    into = [other.elements] * other.p if into_of is None else [into_of[each][rank] for each in there]
    return _exchange(operation, case, out, into, new)


def _rooted(operation: str, case: Case, root: Any, rank: int, new: New) -> list[Any]:
    counts = [] if case.counts_b is None else [case.counts_b]
    if root is Part.PROC_NULL:
        return [None] * (1 if operation == "bcast" else 2 + len(counts))
    if operation == "bcast":
        return [new(case.elements)]
    if operation == "reduce":
        vector = new(case.m_b // case.itemsize)
        return [None, vector] if root is Part.ROOT else [vector, None]
    size = (case.m_b if operation.startswith("gather") else case.m) // case.itemsize
    sizes = list(case.counts_b) if case.counts_b is not None else [size] * case.q
    if root is Part.ROOT:
        whole = new(sum(sizes))
        return [None, whole, *counts] if operation.startswith("gather") else [whole, None, *counts]
    block = new(sizes[rank])
    own = [block, None] if operation.startswith("gather") else [None, block]
    return [*own, *(None for _ in counts)]
