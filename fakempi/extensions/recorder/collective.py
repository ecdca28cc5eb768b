"""Collective calls on data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fakempi.extensions.recorder.rank_recording import RankRecording
from fakempi.extensions.recorder.wrapper import Describe, Lines, Maker, recorded, with_sizes

VECTOR = ("gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw")

SIZE_BYTES = 8
"""Bytes of the size of a pickle: calls with objects exchange sizes first."""

Words: TypeAlias = Callable[[Any, dict[str, Any]], str]
"""Returns operation, communicator, root, bytes, bytes of an element, order and counts, for a communicator and arguments."""

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

SIZES_FIRST = ("bcast", "gather", "scatter", "allgather", "alltoall")
"""Calls with objects that exchange the sizes of the pickles before the pickles, by the same operation on integers."""


# -- buffers ---------------------------------------------------------------------------------------------------------------


def _named(parameters: tuple[str, ...], args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return arguments by name, in the dictionary of those that were passed by name."""
    keywords.update(zip(parameters, args, strict=False))
    return keywords


def _started(operation: str, parameters: tuple[str, ...], nonblocking: bool) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        words = _description(recording, operation)
        begin: Callable[[Any], Any] = recording.requests.start if nonblocking else lambda result: "-"

        def lines(comm: Any, request: Any, *args: Any, **keywords: Any) -> Lines:
            return (("coll", f"{words(comm, _named(parameters, args, keywords))} {begin(request)}"),)

        return lines

    return recorded(describe)


def _persistent(operation: str, parameters: tuple[str, ...]) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        words = _description(recording, operation)

        def lines(comm: Any, request: Any, *args: Any, **keywords: Any) -> Lines:
            given = _named(parameters, args, keywords)
            recording.requests.make_persistent(request, "coll", False, words(comm, given))
            return ()

        return lines

    return recorded(describe)


def _description(recording: RankRecording, operation: str) -> Words:
    number, order = recording.communicators.number, recording.order
    measure = _vector_sizes if operation in VECTOR or operation == "reduce_scatter" else _plain_sizes
    word = "alltoallv" if operation == "alltoallw" else operation

    def words(comm: Any, given: dict[str, Any]) -> str:
        nbytes, itemsize, counts = measure(recording, operation, comm, given)
        root, kind = _root(given.get("root", 0)), order(given.get("op"))
        return f"{word} {number(comm)} {root} {nbytes} {itemsize} {kind} {_counts(counts)}"

    return words


def _plain_sizes(recording: RankRecording, operation: str, comm: Any, given: dict[str, Any]) -> tuple[int, int, list[int]]:
    """Return the bytes as `EventWriter.collective` defines them: of the vector, or of one rank's block."""
    sizes = recording.sizes
    if operation == "barrier":
        return 0, 1, []
    if operation == "bcast":
        return (*sizes.span(given.get("buf")), [])
    sent, received = given.get("sendbuf"), given.get("recvbuf")
    if operation in ("alltoall", "scatter", "reduce_scatter_block"):
        own_block = operation == "scatter" or (operation == "reduce_scatter_block" and sizes.given(sent))
        if own_block and sizes.given(received):
            return (*sizes.span(received), [])
        nbytes, itemsize = sizes.span(sent if sizes.given(sent) else received)
        return nbytes // comm.Get_size(), itemsize, []
    if sizes.given(sent):
        return (*sizes.span(sent), [])
    nbytes, itemsize = sizes.span(received)
    return nbytes // comm.Get_size() if operation in ("gather", "allgather") else nbytes, itemsize, []


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


# -- objects ---------------------------------------------------------------------------------------------------------------


def _objects(operation: str, parameters: tuple[str, ...]) -> Maker:
    """A call with pickled objects: sizes are known once MPI has pickled and unpickled them."""

    def describe(recording: RankRecording) -> Describe:
        pickles, number = recording.pickles, recording.communicators.number

        def lines(comm: Any, result: Any, *args: Any, **keywords: Any) -> Lines:
            given = _named(parameters, args, keywords)
            root, order = given.get("root", 0), recording.order(given.get("op"))
            name, nbytes, itemsize, counts = _sizes_of_objects(operation, pickles.written, pickles.read, comm, root)
            where = f"{number(comm)} {_root(root)}"
            data = "coll", f"{name} {where} {nbytes} {itemsize} {order} {_counts(counts)} -"
            if operation not in SIZES_FIRST:
                return (data,)
            return ("coll", f"{operation} {where} {SIZE_BYTES} {SIZE_BYTES} c - -"), data

        return lines

    return recorded(describe, with_sizes)


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
        return "alltoallv", sum(sent), 1, [*sent, *(read if len(read) == size else sent)]
    one = (written or read or [0])[0]
    return operation, one, max(one, 1), []  # a reduction of objects: an object is one element


OF_COMM: dict[str, Maker] = {
    **{name: _started(name.lower(), parameters, nonblocking=False) for name, parameters in CALLS.items()},
    **{f"I{name.lower()}": _started(name.lower(), parameters, nonblocking=True) for name, parameters in CALLS.items()},
    **{f"{name}_init": _persistent(name.lower(), parameters) for name, parameters in CALLS.items()},
    **{name: _objects(name, parameters) for name, parameters in OBJECTS.items()},
}
"""Methods of communicators."""
