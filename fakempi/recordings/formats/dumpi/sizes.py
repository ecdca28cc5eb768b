"""The sizes of collective calls in records of DUMPI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class CallSizes(NamedTuple):
    """Bytes and counts as `EventWriter.collective` defines them, the communicator, root and operation (or -1)."""

    comm: int
    nbytes: int
    itemsize: int = 1
    counts: Sequence[int] = ()
    root: int = 0
    op: int = -1


Element = Callable[[int], int]
"""Returns the bytes of a datatype by its number."""


def sizes(name: str, values: list[Any], element: Element) -> CallSizes | None:
    """Return the sizes of a collective call; None for other functions. Buffers may be IN_PLACE: receiving ones count."""
    measure = _MEASURES.get(name)
    return None if measure is None else measure(values, element)


def _barrier(v: list[Any], element: Element) -> CallSizes:
    return CallSizes(v[0], 0)


def _bcast(v: list[Any], element: Element) -> CallSizes:
    return CallSizes(v[3], v[0] * element(v[1]), element(v[1]), root=v[2])


def _reduce(v: list[Any], element: Element) -> CallSizes:
    return CallSizes(v[4], v[0] * element(v[1]), element(v[1]), root=v[3], op=v[2])


def _allreduce(v: list[Any], element: Element) -> CallSizes:
    return CallSizes(v[3], v[0] * element(v[1]), element(v[1]), op=v[2])


def _gather(v: list[Any], element: Element) -> CallSizes:
    rank, count, datatype, root, comm = v[:5]
    if rank == root:
        count, datatype = v[5:7]
    return CallSizes(comm, count * element(datatype), element(datatype), root=root)


def _gatherv(v: list[Any], element: Element) -> CallSizes:
    rank, _, count, datatype, root, comm = v[:6]
    if rank != root:
        return CallSizes(comm, count * element(datatype), element(datatype), root=root)
    blocks = [each * element(v[8]) for each in v[6]]
    return CallSizes(comm, blocks[rank], element(v[8]), blocks, root)


def _scatterv(v: list[Any], element: Element) -> CallSizes:
    rank, _, sendtype, count, recvtype, root, comm = v[:7]
    if rank != root:
        return CallSizes(comm, count * element(recvtype), element(recvtype), root=root)
    blocks = [each * element(sendtype) for each in v[7]]
    return CallSizes(comm, blocks[rank], element(sendtype), blocks, root)


def _allgather(v: list[Any], element: Element) -> CallSizes:
    return CallSizes(v[4], v[2] * element(v[3]), element(v[3]))


def _allgatherv(v: list[Any], element: Element) -> CallSizes:
    return CallSizes(v[6], v[1] * element(v[2]), element(v[5]), [each * element(v[5]) for each in v[3]])


def _alltoallv(v: list[Any], element: Element) -> CallSizes:
    _, sent, _, sendtype, received, _, recvtype, comm = v
    counts = [*(each * element(sendtype) for each in sent), *(each * element(recvtype) for each in received)]
    return CallSizes(comm, sum(counts[: len(sent)]), element(recvtype), counts)


def _alltoallw(v: list[Any], element: Element) -> CallSizes:
    _, sent, _, sendtypes, received, _, recvtypes, comm = v
    counts = [each * element(datatype) for each, datatype in zip(sent, sendtypes, strict=True)]
    counts += [each * element(datatype) for each, datatype in zip(received, recvtypes, strict=True)]
    return CallSizes(comm, sum(counts[: len(sent)]), 1, counts)


def _reduce_scatter(v: list[Any], element: Element) -> CallSizes:
    blocks = [each * element(v[2]) for each in v[1]]
    return CallSizes(v[4], sum(blocks) // max(len(blocks), 1), element(v[2]), blocks, op=v[3])


_MEASURES: dict[str, Callable[[list[Any], Element], CallSizes]] = {
    "Barrier": _barrier, "Bcast": _bcast, "Reduce": _reduce, "Allreduce": _allreduce, "Scan": _allreduce,
    "Exscan": _allreduce, "Gather": _gather, "Scatter": _gather, "Gatherv": _gatherv, "Scatterv": _scatterv,
    "Allgather": _allgather, "Alltoall": _allgather, "Allgatherv": _allgatherv, "Alltoallv": _alltoallv,
    "Alltoallw": _alltoallw, "Reduce_scatter": _reduce_scatter,
}  # fmt: skip
