"""The collective calls of events, with phantom buffers of the recorded sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fakempi.apps.replay.callers import Caller
from fakempi.MPI import SUM, Op
from fakempi.mpi.buffers.phantom import Phantom, phantom


class RecordedCall(NamedTuple):
    """The arguments of a call, apart from its communicator. `counts` are bytes."""

    nbytes: int
    root: int
    counts: Sequence[int]
    itemsize: int
    commutative: bool


def collective_call(operation: str, comm: Any, call: RecordedCall, caller: Caller, *, nonblocking: bool) -> Any:
    """Make a collective call from the site of `caller`; returns the request of a nonblocking one."""
    name, arguments = _CALLS[operation](comm, call)
    return caller(getattr(comm, f"I{name.lower()}" if nonblocking else name), *arguments)


def create(comm: Any, caller: Caller) -> None:
    """Wait for the other ranks as a call does that creates a communicator."""
    caller(comm.Split, 0, 0).Free()


Arguments = tuple[str, tuple[Any, ...]]


def _buffer(call: RecordedCall, nbytes: int) -> Phantom:
    """Return a buffer with elements of the recorded size; of bytes if the size is no multiple of it."""
    return phantom(nbytes, 1 if nbytes % call.itemsize else call.itemsize)


def _vector(call: RecordedCall, counts: Sequence[int]) -> list[Any]:
    """Return a buffer with counts, in elements."""
    itemsize = 1 if any(count % call.itemsize for count in counts) else call.itemsize
    return [phantom(sum(counts), itemsize), [count // itemsize for count in counts]]


def _op(call: RecordedCall) -> Op:
    """Return an operation that is commutative or not; the contents of its operands do not matter."""
    return SUM if call.commutative else Op.Create(_nothing, commute=False)


def _nothing(left: object, right: object, datatype: object) -> None:
    """Combine phantoms."""


def _barrier(comm: Any, call: RecordedCall) -> Arguments:
    return "Barrier", ()


def _bcast(comm: Any, call: RecordedCall) -> Arguments:
    return "Bcast", (_buffer(call, call.nbytes), call.root)


def _gather(comm: Any, call: RecordedCall) -> Arguments:
    whole = _buffer(call, call.nbytes * comm.size) if comm.rank == call.root else None
    return "Gather", (_buffer(call, call.nbytes), whole, call.root)


def _scatter(comm: Any, call: RecordedCall) -> Arguments:
    whole = _buffer(call, call.nbytes * comm.size) if comm.rank == call.root else None
    return "Scatter", (whole, _buffer(call, call.nbytes), call.root)


def _gatherv(comm: Any, call: RecordedCall) -> Arguments:
    if comm.rank == call.root:
        counts = _counts_of_root(comm, call)
        return "Gatherv", (_buffer(call, counts[comm.rank]), _vector(call, counts), call.root)
    return "Gatherv", (_buffer(call, call.nbytes), None, call.root)


def _scatterv(comm: Any, call: RecordedCall) -> Arguments:
    if comm.rank == call.root:
        counts = _counts_of_root(comm, call)
        return "Scatterv", (_vector(call, counts), _buffer(call, counts[comm.rank]), call.root)
    return "Scatterv", (None, _buffer(call, call.nbytes), call.root)


def _counts_of_root(comm: Any, call: RecordedCall) -> Sequence[int]:
    """Return the counts of a root; without counts all blocks are as large as its block."""
    return call.counts or [call.nbytes] * comm.size


def _allgather(comm: Any, call: RecordedCall) -> Arguments:
    return "Allgather", (_buffer(call, call.nbytes), _buffer(call, call.nbytes * comm.size))


def _allgatherv(comm: Any, call: RecordedCall) -> Arguments:
    return "Allgatherv", (_buffer(call, call.counts[comm.rank]), _vector(call, call.counts))


def _alltoall(comm: Any, call: RecordedCall) -> Arguments:
    whole = _buffer(call, call.nbytes * comm.size)
    return "Alltoall", (whole, whole)


def _alltoallv(comm: Any, call: RecordedCall) -> Arguments:
    sent, received = call.counts[: comm.size], call.counts[comm.size :]
    return "Alltoallv", (_vector(call, sent), _vector(call, received))


def _reduce(comm: Any, call: RecordedCall) -> Arguments:
    buffer = _buffer(call, call.nbytes)
    return "Reduce", (buffer, buffer if comm.rank == call.root else None, _op(call), call.root)


def _full(name: str) -> Callable[[Any, RecordedCall], Arguments]:
    def arguments(comm: Any, call: RecordedCall) -> Arguments:
        buffer = _buffer(call, call.nbytes)
        return name, (buffer, buffer, _op(call))

    return arguments


def _reduce_scatter_block(comm: Any, call: RecordedCall) -> Arguments:
    share = _buffer(call, call.nbytes)
    return "Reduce_scatter_block", (phantom(call.nbytes * comm.size, share.itemsize), share, _op(call))


def _reduce_scatter(comm: Any, call: RecordedCall) -> Arguments:
    whole, counts = _vector(call, call.counts)
    return "Reduce_scatter", (whole, phantom(call.counts[comm.rank], whole.itemsize), counts, _op(call))


_CALLS: Mapping[str, Callable[[Any, RecordedCall], Arguments]] = {
    "barrier": _barrier,
    "bcast": _bcast,
    "gather": _gather,
    "gatherv": _gatherv,
    "scatter": _scatter,
    "scatterv": _scatterv,
    "allgather": _allgather,
    "allgatherv": _allgatherv,
    "alltoall": _alltoall,
    "alltoallv": _alltoallv,
    "reduce": _reduce,
    "allreduce": _full("Allreduce"),
    "reduce_scatter_block": _reduce_scatter_block,
    "reduce_scatter": _reduce_scatter,
    "scan": _full("Scan"),
    "exscan": _full("Exscan"),
}
