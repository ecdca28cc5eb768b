"""Make the arguments of one rank's call in a given case: buffers of the right sizes with arbitrary contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.inter_patterns.groups import RootRole

ROOTED = ("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce")
REDUCING = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")

New: TypeAlias = Callable[[int], Any]


def two_groups(comm: Any, p: int) -> tuple[Any, Any]:
    """Split a communicator into its first p ranks and the others; return the intercommunicator and the local group."""
    in_a = comm.Get_rank() < p
    local = comm.Split(0 if in_a else 1, comm.Get_rank())
    return local.Create_intercomm(0, comm, p if in_a else 0), local


def prepared(
    algorithm: Algorithm, case: Case, rank: int, comms: Sequence[Any], buffer: Callable[[int, int], Any], op: Any
) -> Callable[[], Any]:
    """Return one rank's call, which can be made repeatedly.

    `rank` is the rank in the case, where the ranks of B follow those of A. `comms` is a communicator, or the result of
    `two_groups`. `buffer(nbytes, itemsize)` makes a buffer. `op` is the op of reductions.
    """

    def new(elements: int) -> Any:
        return buffer(elements * case.itemsize, case.itemsize)

    args, keywords = arguments(algorithm.operation, case, rank, new, op)
    return lambda: algorithm.run(*comms, *args, **keywords)


def arguments(operation: str, case: Case, rank: int, new: New, op: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of one rank's call, without communicators; `new(elements)` makes a buffer."""
    keywords: dict[str, Any] = dict(case.parameters)
    root: Any = case.root
    if operation == "split":  # two groups, each in reverse order
        args = [rank % 2, case.p - rank]
    elif case.q:
        in_a = rank < case.p
        own = rank if in_a else rank - case.p
        root = case.root if not in_a else RootRole.ROOT if own == case.root else RootRole.PROC_NULL
        args = _between(operation, case, root, in_a, own, new)
        if keywords.get("first") is not None:  # the case specifies it for group A
            keywords["first"] = keywords["first"] == in_a
    else:
        args = _within(operation, case, rank, new)
    if operation in ROOTED:
        keywords["root"] = root
    if operation in REDUCING:
        keywords["op"] = op
    return args, keywords


def _within(operation: str, case: Case, rank: int, new: New) -> list[Any]:
    """Return the arguments within one group."""
    at_root = rank == case.root
    message, all_blocks = case.elements, case.layout.size(0, case.p)
    own, counts = case.layout.size(rank), [] if case.counts is None else [case.counts]
    match operation:
        case "barrier":
            return []
        case "bcast":
            return [new(message)]
        case "gather" | "gatherv":
            return [new(own), new(all_blocks) if at_root else None, *counts]
        case "scatter" | "scatterv":
            return [new(all_blocks) if at_root else None, new(own), *counts]
        case "allgather" | "allgatherv":
            return [new(own), new(all_blocks), *counts]
        case "reduce":
            return [new(message), new(message) if at_root else None]
        case "allreduce" | "scan" | "exscan":
            return [new(message), new(message)]
        case "reduce_scatter" | "reduce_scatter_block":
            return [new(all_blocks), new(own), *counts]
    ranks = range(case.p)
    out = [case.between(rank, other) // case.itemsize for other in ranks]
    into = [case.between(other, rank) // case.itemsize for other in ranks]
    return _exchange(operation, case, out, into, new)


def _exchange(operation: str, case: Case, out: list[int], into: list[int], new: New) -> list[Any]:
    """Return the arguments of alltoall, alltoallv and alltoallw."""
    if operation == "alltoallw":
        return [list(map(new, out)), list(map(new, into))]
    counts = [] if case.traffic is None else [out, into]
    return [new(sum(out)), new(sum(into)), *counts]


def _between(operation: str, case: Case, root: Any, in_a: bool, rank: int, new: New) -> list[Any]:
    """Return the arguments between two groups, with the root in A."""
    own, other = case.groups if in_a else case.groups[::-1]
    if operation in ROOTED:
        return _rooted(operation, case, root, rank, new)
    own_block, other_blocks = own.layout.size(rank), other.layout.size(0, other.p)
    match operation:
        case "barrier":
            return []
        case "allgather" | "allgatherv":
            return [new(own_block), new(other_blocks), *([] if other.counts is None else [other.counts])]
        case "allreduce":
            return [new(own.elements), new(other.elements)]
        case "reduce_scatter" | "reduce_scatter_block":
            total = own.layout.size(0, own.p)
            return [new(total), new(own_block), *([] if own.counts is None else [own.counts])]
    senders = range(other.p)
    sent_traffic, received_traffic = (case.traffic, case.traffic_b) if in_a else (case.traffic_b, case.traffic)
    out = [own.elements] * other.p if sent_traffic is None else list(sent_traffic[rank])
    into = [other.elements] * other.p if received_traffic is None else [received_traffic[sender][rank] for sender in senders]
    return _exchange(operation, case, out, into, new)


def _rooted(operation: str, case: Case, root: Any, rank: int, new: New) -> list[Any]:
    counts = [] if case.counts_b is None else [case.counts_b]
    if root is RootRole.PROC_NULL:
        return [None] * (1 if operation == "bcast" else 2 + len(counts))
    if operation == "bcast":
        return [new(case.elements)]
    if operation == "reduce":
        vector = new(case.m_b // case.itemsize)
        return [None, vector] if root is RootRole.ROOT else [vector, None]
    size = (case.m_b if operation.startswith("gather") else case.m) // case.itemsize
    sizes = list(case.counts_b) if case.counts_b is not None else [size] * case.q
    if root is RootRole.ROOT:
        whole = new(sum(sizes))
        return [None, whole, *counts] if operation.startswith("gather") else [whole, None, *counts]
    block = new(sizes[rank])
    own = [block, None] if operation.startswith("gather") else [None, block]
    return [*own, *(None for _ in counts)]
