"""Wrappers of collective calls on data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fakempi.apps.record.point import Replace
from fakempi.apps.record.rank_recording import RankRecording

VECTOR = ("gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw")


class CollectiveKind(NamedTuple):
    """A collective operation: the names of its parameters, in mpi4py's order."""

    operation: str
    parameters: tuple[str, ...]


_BOTH = ("sendbuf", "recvbuf")
CALLS: dict[str, tuple[str, ...]] = {
    "Barrier": (), "Bcast": ("buf", "root"), "Gather": (*_BOTH, "root"), "Gatherv": (*_BOTH, "root"),
    "Scatter": (*_BOTH, "root"), "Scatterv": (*_BOTH, "root"), "Allgather": _BOTH, "Allgatherv": _BOTH, "Alltoall": _BOTH,
    "Alltoallv": _BOTH, "Alltoallw": _BOTH, "Reduce": (*_BOTH, "op", "root"), "Allreduce": (*_BOTH, "op"),
    "Reduce_scatter_block": (*_BOTH, "op"), "Reduce_scatter": (*_BOTH, "recvcounts", "op"), "Scan": (*_BOTH, "op"),
    "Exscan": (*_BOTH, "op"),
}  # fmt: skip
"""Calls with buffers; each has a nonblocking and a persistent form with the same parameters."""

OBJECTS = {
    "barrier": (), "bcast": ("obj", "root"), "gather": ("sendobj", "root"), "scatter": ("sendobj", "root"),
    "allgather": ("sendobj",), "alltoall": ("sendobj",), "reduce": ("sendobj", "op", "root"),
    "allreduce": ("sendobj", "op"), "scan": ("sendobj", "op"), "exscan": ("sendobj", "op"),
}  # fmt: skip
"""Parameters of calls with pickled objects."""


def install(recording: RankRecording, replace: Replace) -> None:
    """Replace the collective calls of communicators."""
    for kind in (recording.mpi.Comm, recording.mpi.Intracomm):
        for name, parameters in CALLS.items():
            call = CollectiveKind(name.lower(), parameters)
            for variant, wrap in ((name, _blocking), (f"I{name.lower()}", _nonblocking), (f"{name}_init", _persistent)):
                if variant in kind.__dict__:
                    replace(kind, variant, wrap(recording, kind.__dict__[variant], call))
        for name, parameters in OBJECTS.items():
            if name in kind.__dict__:
                replace(kind, name, _objects(recording, kind.__dict__[name], CollectiveKind(name, parameters)))


def _blocking(recording: RankRecording, original: Any, call: CollectiveKind) -> Any:
    log, now, describe = recording.log, recording.log.now, _description(recording, call)

    def collective(self: Any, *args: Any, **keywords: Any) -> Any:
        if recording.is_foreign(call.operation):
            return original(self, *args, **keywords)
        start = now()
        result = original(self, *args, **keywords)
        end = now()
        log.event("coll", start, end, log.site(1), f"{describe(self, args, keywords)} -")
        return result

    return collective


def _nonblocking(recording: RankRecording, original: Any, call: CollectiveKind) -> Any:
    log, now, describe = recording.log, recording.log.now, _description(recording, call)

    def collective(self: Any, *args: Any, **keywords: Any) -> Any:
        if recording.is_foreign(call.operation):
            return original(self, *args, **keywords)
        start = now()
        request = original(self, *args, **keywords)
        end = now()
        rest = f"{describe(self, args, keywords)} {recording.requests.start(request)}"
        log.event("coll", start, end, log.site(1), rest)
        return request

    return collective


def _persistent(recording: RankRecording, original: Any, call: CollectiveKind) -> Any:
    log, now, describe = recording.log, recording.log.now, _description(recording, call)

    def collective(self: Any, *args: Any, **keywords: Any) -> Any:
        start = now()
        request = original(self, *args, **keywords)
        if recording.is_foreign(call.operation):
            return request
        line = describe(self, args, keywords)
        recording.requests.make_persistent(request, "coll", False, lambda number: f"{line} {number}")
        log.skip(start, now(), log.site(1))
        return request

    return collective


def _objects(recording: RankRecording, original: Any, call: CollectiveKind) -> Any:
    """A call with pickled objects: sizes are known once mpi4py has pickled and unpickled them."""
    log, now, pickles = recording.log, recording.log.now, recording.pickles

    def collective(self: Any, *args: Any, **keywords: Any) -> Any:
        if recording.is_foreign(call.operation):
            return original(self, *args, **keywords)
        pickles.clear()
        start = now()
        result = original(self, *args, **keywords)
        end = now()
        given = dict(zip(call.parameters, args, strict=False)) | keywords
        root, op = given.get("root", 0), given.get("op")
        order = "c" if op is None else recording.order(op)
        operation, nbytes, itemsize, counts = _sizes_of_objects(call.operation, pickles.written, pickles.read, self, root)
        rest = f"{operation} {recording.communicators.number(self)} {_root(root)} {nbytes} {itemsize} {order} "
        log.event("coll", start, end, log.site(1), f"{rest}{_counts(counts)} -")
        return result

    return collective


def _sizes_of_objects(
    operation: str, written: list[int], read: list[int], comm: Any, root: int
) -> tuple[str, int, int, list[int]]:
    """Return the operation that replaces a call with objects: its name, bytes, bytes of an element, and counts."""
    size = comm.Get_size() if not comm.Is_inter() else comm.Get_remote_size()
    own = sum(written) or sum(read)
    if operation in ("barrier", "bcast"):
        return operation, own, 1, []
    if operation in ("gather", "allgather"):
        counts = read if len(read) == size else [] if operation == "gather" and comm.Get_rank() != root else [own] * size
        return f"{operation}v", sum(written), 1, counts
    if operation == "scatter":
        counts = written if len(written) == size else [own] * size if comm.Get_rank() == root else []
        return "scatterv", sum(read), 1, counts
    if operation == "alltoall":
        sent = written if len(written) == size else [sum(written) // size] * size
        received = read if len(read) == size else sent
        return "alltoallv", sum(sent), 1, [*sent, *received]
    one = (written or read or [0])[0]
    return operation, one, max(one, 1), []  # a reduction of objects: an object is one element


def _description(recording: RankRecording, call: CollectiveKind) -> Callable[[Any, Any, Any], str]:
    """Return a function that returns operation, communicator, root, bytes, bytes of an element, order and counts."""
    number = recording.communicators.number
    names, operation = call.parameters, call.operation
    measure = _vector_sizes if operation in VECTOR or operation == "reduce_scatter" else _plain_sizes
    word = "alltoallv" if operation == "alltoallw" else operation

    def describe(comm: Any, args: Any, keywords: Any) -> str:
        given = dict(zip(names, args, strict=False))
        if keywords:
            given.update(keywords)
        nbytes, itemsize, counts = measure(recording, operation, comm, given)
        op = given.get("op") if "op" in names else None
        order = "c" if op is None else recording.order(op)
        return f"{word} {number(comm)} {_root(given.get('root', 0))} {nbytes} {itemsize} {order} {_counts(counts)}"

    return describe


def _plain_sizes(recording: RankRecording, operation: str, comm: Any, given: dict[str, Any]) -> tuple[int, int, list[int]]:
    """Return the bytes as `EventWriter.collective` defines them: of the vector, or of one rank's block."""
    sizes = recording.sizes
    if operation == "barrier":
        return 0, 1, []
    if operation == "bcast":
        return (*sizes.span(given.get("buf")), [])
    sent, received = given.get("sendbuf"), given.get("recvbuf")
    whole_received = operation in ("gather", "allgather", "alltoall")
    if operation == "alltoall" or operation in ("scatter", "reduce_scatter_block"):
        if operation == "scatter" and sizes.given(received):
            return (*sizes.span(received), [])
        if operation == "reduce_scatter_block" and sizes.given(received) and sizes.given(sent):
            return (*sizes.span(received), [])
        nbytes, itemsize = sizes.span(sent if sizes.given(sent) else received)
        return nbytes // comm.Get_size(), itemsize, []
    if sizes.given(sent):
        return (*sizes.span(sent), [])
    nbytes, itemsize = sizes.span(received)
    return nbytes // comm.Get_size() if whole_received else nbytes, itemsize, []


def _vector_sizes(recording: RankRecording, operation: str, comm: Any, given: dict[str, Any]) -> tuple[int, int, list[int]]:
    """Return the bytes of the caller's own block, of an element, and the counts in bytes."""
    sizes, size, rank = recording.sizes, comm.Get_size(), comm.Get_rank()
    sent, received = given.get("sendbuf"), given.get("recvbuf")
    if operation == "alltoallw":
        incoming = sizes.typed_blocks(received)
        outgoing = sizes.typed_blocks(sent) or incoming
        return sum(outgoing), 1, [*outgoing, *incoming]
    if operation == "alltoallv":
        incoming, itemsize = sizes.blocks(received, size)
        outgoing, itemsize = sizes.blocks(sent, size) if sizes.given(sent) else (incoming, itemsize)
        return sum(outgoing), itemsize, [*outgoing, *incoming]
    if operation == "reduce_scatter":
        nbytes, itemsize = sizes.span(sent if sizes.given(sent) else received)
        counts = given.get("recvcounts")
        if counts is None:
            return nbytes // size, itemsize, _even(nbytes, itemsize, size)
        blocks = [int(count) * itemsize for count in counts]
        return blocks[rank], itemsize, blocks
    if operation == "scatterv":
        if rank != given.get("root", 0):
            return (*sizes.span(received), [])
        blocks, itemsize = sizes.blocks(sent, size)
        return blocks[rank], itemsize, blocks
    if operation == "gatherv" and rank != given.get("root", 0):
        return (*sizes.span(sent), [])
    blocks, itemsize = sizes.blocks(received, size)
    return blocks[rank], itemsize, blocks


def _even(nbytes: int, itemsize: int, size: int) -> list[int]:
    each, more = divmod(nbytes // itemsize, size)
    return [(each + (rank < more)) * itemsize for rank in range(size)]


def _root(root: Any) -> Any:
    """Return a root as a number; ROOT and PROC_NULL of intercommunicators are -1."""
    return root if root >= 0 else -1


def _counts(counts: list[int]) -> str:
    return ",".join(map(str, counts)) or "-"
