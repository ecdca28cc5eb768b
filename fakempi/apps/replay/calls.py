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
    name = f"I{operation}" if nonblocking else operation.capitalize()
    return caller(getattr(comm, name), *_ARGUMENTS[operation](comm, call))


def create(comm: Any, caller: Caller) -> None:
    """Wait for the other ranks as a call does that creates a communicator."""
    caller(comm.Split, 0, 0).Free()


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


def _own(call: RecordedCall) -> Phantom:
    return _buffer(call, call.nbytes)


def _whole(comm: Any, call: RecordedCall) -> Phantom:
    return _buffer(call, call.nbytes * comm.size)


def _whole_at_root(comm: Any, call: RecordedCall) -> Phantom | None:
    return _whole(comm, call) if comm.rank == call.root else None


def _rooted_blocks(comm: Any, call: RecordedCall) -> tuple[Phantom, list[Any] | None]:
    """Return the block of a rank, and at the root all blocks; without counts they are as large as the root's."""
    if comm.rank != call.root:
        return _own(call), None
    counts = call.counts or [call.nbytes] * comm.size
    return _buffer(call, counts[comm.rank]), _vector(call, counts)


def _reduce(comm: Any, call: RecordedCall) -> tuple[Any, ...]:
    buffer = _own(call)
    return buffer, buffer if comm.rank == call.root else None, _op(call), call.root


def _allreduce(comm: Any, call: RecordedCall) -> tuple[Any, ...]:
    buffer = _own(call)
    return buffer, buffer, _op(call)


def _reduce_scatter_block(comm: Any, call: RecordedCall) -> tuple[Any, ...]:
    share = _own(call)
    return phantom(call.nbytes * comm.size, share.itemsize), share, _op(call)


def _reduce_scatter(comm: Any, call: RecordedCall) -> tuple[Any, ...]:
    whole, counts = _vector(call, call.counts)
    return whole, phantom(call.counts[comm.rank], whole.itemsize), counts, _op(call)


_ARGUMENTS: Mapping[str, Callable[[Any, RecordedCall], tuple[Any, ...]]] = {
    "barrier": lambda comm, call: (),
    "bcast": lambda comm, call: (_own(call), call.root),
    "gather": lambda comm, call: (_own(call), _whole_at_root(comm, call), call.root),
    "gatherv": lambda comm, call: (*_rooted_blocks(comm, call), call.root),
    "scatter": lambda comm, call: (_whole_at_root(comm, call), _own(call), call.root),
    "scatterv": lambda comm, call: (*_rooted_blocks(comm, call)[::-1], call.root),
    "allgather": lambda comm, call: (_own(call), _whole(comm, call)),
    "allgatherv": lambda comm, call: (_buffer(call, call.counts[comm.rank]), _vector(call, call.counts)),
    "alltoall": lambda comm, call: (_whole(comm, call),) * 2,
    "alltoallv": lambda comm, call: (_vector(call, call.counts[: comm.size]), _vector(call, call.counts[comm.size :])),
    "reduce": _reduce,
    **dict.fromkeys(("allreduce", "scan", "exscan"), _allreduce),
    "reduce_scatter_block": _reduce_scatter_block,
    "reduce_scatter": _reduce_scatter,
}
"""The arguments of each operation: buffers, and what it takes in addition, such as the root."""
