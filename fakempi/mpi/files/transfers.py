"""The common implementation of all accesses: bytes move between a buffer and the runs of a view.

In a collective access each rank also accesses the file independently, unless an algorithm is requested: by an option of the
run (`algorithms={"write_all": "two_phase"}`) or by an info key (`romio_cb_write`). The algorithm runs on the collective
context of the file's communicator, and accesses the file as plain bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

import numpy as np

from fakempi.core.kernel.loop import Loop
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_IO
from fakempi.mpi.base.call_matching import TAGS
from fakempi.mpi.base.child import start_child
from fakempi.mpi.base.waiting import AllOf, Completion, parts_of, wait_one
from fakempi.mpi.buffers.payload import copy_into, describe, describe_target, snapshot
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.span import Payload, Span
from fakempi.mpi.buffers.typing import BufSpec
from fakempi.mpi.collective.selection import Selection
from fakempi.mpi.datatypes.packing import converted
from fakempi.mpi.datatypes.padding import clear_packed, clear_padding, has_padding
from fakempi.mpi.files.handle import FileAccess, FileState
from fakempi.mpi.files.shared_file import SIZE, SharedFile
from fakempi.mpi.files.storage import StorageError
from fakempi.mpi.files.views import View, clipped_runs
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.interfaces.services import TraceService
from fakempi.mpi.point.handle import CommState

OffsetOrPointer: TypeAlias = SupportsIndex | str
"""An offset, or one of the pointers INDIVIDUAL, INDIVIDUAL_NONBLOCKING and SHARED."""

INDIVIDUAL, INDIVIDUAL_NONBLOCKING, SHARED = "individual", "individual, nonblocking", "shared"
"""Pointers, in place of an offset. After a nonblocking access the individual pointer moves by the requested size."""

BUFFER_BYTES = 16 << 20
"""The default buffer size of an aggregator, as in ROMIO."""


class BufferDescription(NamedTuple):
    """A buffer and its number of etypes. For a write, the payload has the bytes in the file's representation."""

    payload: Any  # a Payload; an array of bytes if it is written
    nbytes: int
    etypes: int
    write: bool


class ChosenAlgorithm(NamedTuple):
    """An algorithm for collective accesses: a function of communicator, file, runs and data."""

    name: str
    run: Callable[..., None]


class TraceRegion:
    """A region of the trace: a rank is in a call of File."""

    __slots__ = ("_entered", "_recorder")

    def __init__(self, comm: CommState, call: str, nbytes: int, *, collective: bool = False, algorithm: str = "") -> None:
        process, running = comm._process, comm._loop.running
        self._recorder: TraceService | None = process.universe.recorder
        if self._recorder is None:
            return
        context, number = (comm._context.number, comm._side.calls[comm._rank]) if collective else (0, 0)
        self._entered = self._recorder.enter(
            process.number, f"File.{call}", call=self._recorder.call(), nbytes=nbytes, algorithm=algorithm,
            lane=0 if running is process.task or running is None else running.number, context=context, number=number,
        )  # fmt: skip

    def __enter__(self) -> None:
        """Do nothing: the region began when the object was created."""

    def __exit__(self, *failure: object) -> None:
        if self._recorder is not None:
            self._recorder.leave(*self._entered)


def record_access(comm: CommState, operation: Operation, *, write: bool) -> None:
    """Record a nonblocking access, from now to its end, in the trace. A collective one has the number of the call."""
    access: Any = parts_of(operation)[-1]
    collective = access is not operation
    recorder: Any = comm._process.universe.recorder
    recorder.record(
        comm._process.number, f"File.I{'write' if write else 'read'}", comm._loop.now, access.end, call=recorder.call(),
        context=comm._context.number if collective else 0, number=comm._side.calls[comm._rank] if collective else 0,
    )  # fmt: skip


class PlainBytes:
    """The file as an algorithm accesses it: offsets are in bytes, and accesses take modeled time."""

    __slots__ = ("_loop", "_opened")

    def __init__(self, opened: SharedFile, loop: Loop) -> None:
        self._opened, self._loop = opened, loop

    def Write_at(self, offset: int, buf: Array) -> None:
        """Write bytes at an offset."""
        self._opened.storage.write([(offset, buf.size)], buf)
        self._take_time(buf.size)

    def Read_at(self, offset: int, buf: Array) -> None:
        """Read bytes at an offset."""
        data = self._opened.storage.read([(offset, buf.size)])
        buf[: data.size] = data
        self._take_time(buf.size)

    def _take_time(self, nbytes: int) -> None:
        wait_one(self._loop, FileAccess(self._opened.end_time(nbytes, 1), nbytes))


class FileTransfers(FileState):
    """The common implementation of all accesses."""

    __slots__ = ()

    def _described(self, buf: BufSpec, write: bool) -> BufferDescription:
        payload, nbytes = describe(buf) if write else describe_target(buf)
        if type(payload) is Phantom:
            self._reject_phantom(nbytes)
        etypes = self._etypes(nbytes)
        if write:
            payload = self._to_file_representation(payload, etypes)
        return BufferDescription(payload, nbytes, etypes, write)

    def _to_file_representation(self, payload: Payload, etypes: int) -> Payload:
        """Return the bytes of a buffer in the file's representation."""
        view, copy = self._alive().view, np.ascontiguousarray(snapshot(payload))
        if type(payload) is not Span:
            clear_padding(copy)
        data = copy.reshape(-1).view(np.uint8)
        if type(payload) is Span and has_padding(payload.datatype._definition):
            clear_packed(payload.datatype._definition, data, payload.count)
        try:
            return converted(view.etype._definition, data, etypes, outward=True) if view.external else data
        except MPIError as error:
            self._raise(error)

    # -- independent accesses -------------------------------------------------------------------------------------

    def _access(self, buf: BufSpec, where: OffsetOrPointer, *, write: bool) -> FileAccess:
        """Move bytes between a buffer and the file, at an offset or at a pointer, and advance the pointer."""
        self._check(write=write, shared=where is SHARED)
        buffer = self._described(buf, write)
        if where is SHARED:
            self._await_turn()
        return self._transfer(buffer, where)

    def _await_turn(self) -> None:
        """In a run of the model checker, let it choose the order of accesses at the shared pointer."""
        opened = self._opened
        if opened.universe.choices is not None and self._alive().comm.Get_size() > 1:
            opened.universe.choices.await_shared_pointer(opened)

    def _transfer(self, buffer: BufferDescription, where: OffsetOrPointer) -> FileAccess:
        at = self._start_offset(where)
        try:
            access = self._transfer_at(buffer, at)
        except MPIError as error:
            self._raise_with_call(error)
        self._advance(where, at, buffer, access.capacity)
        return access

    def _start_offset(self, where: OffsetOrPointer) -> int:
        """Return the offset of an access, in etypes."""
        if where is INDIVIDUAL or where is INDIVIDUAL_NONBLOCKING:
            return self._alive().pointer
        return self._opened.pointer if where is SHARED else self._offset(where)  # type: ignore[arg-type]  # an offset by now

    def _advance(self, where: OffsetOrPointer, at: int, buffer: BufferDescription, moved: int) -> None:
        """Advance the pointer; a partial etype counts as one.

        A blocking call advances the pointer by the number of transferred bytes, which is smaller at the end of the file. A
        nonblocking call advances it by the requested size (MPI 4.1, 14.4.1).
        """
        part = self._alive()
        if where is INDIVIDUAL:
            part.pointer = at - -moved // part.view.etype._size
        elif where is INDIVIDUAL_NONBLOCKING:
            part.pointer = at + buffer.etypes
        elif where is SHARED:
            self._opened.pointer = at + buffer.etypes

    def _transfer_at(self, buffer: BufferDescription, at: int) -> FileAccess:
        """Move the bytes of a buffer; reads end at the end of the file."""
        opened, view = self._opened, self._alive().view
        runs = list(view.runs(at, buffer.etypes * view.unit))
        self._check_races(runs, buffer)
        self._note(runs, buffer.write)
        if buffer.write:
            data, moved = buffer.payload, buffer.nbytes
            opened.storage.write(runs, data)
        else:
            data = opened.storage.read(runs)
            moved = copy_from_file(view, data, buffer)
        return FileAccess(opened.end_time(len(data), len(runs)), moved)

    def _check_races(self, runs: list[tuple[int, int]], buffer: BufferDescription) -> None:
        opened = self._opened
        if opened.races is not None:
            opened.races.note(opened, self._alive().comm._process, runs, buffer.payload if buffer.write else None)

    def _note(self, runs: list[tuple[int, int]], write: bool) -> None:
        """Record the accessed bytes, and whether the file grows, in a run of the model checker."""
        opened = self._opened
        if opened.universe.choices is not None:
            grows = write and any(start + length > opened.storage.size for start, length in runs)
            opened.note(self._alive().comm, [*runs, SIZE] if grows else runs, write=write)

    # -- collective accesses --------------------------------------------------------------------------------------

    def _choice(self, write: bool) -> ChosenAlgorithm | None:
        """Return the requested algorithm, or None. The default number of aggregators is that of the file server's ports."""
        part, universe = self._alive(), self._opened.universe
        hints, p = part.hints, part.comm.Get_size()
        hint = hints.romio_cb_write if write else hints.romio_cb_read
        choice = universe.state(Selection).choose_files("write_all" if write else "read_all", p, hinted=hint == "enable")
        if choice is None or hint == "disable":
            return None
        aggregators = int(hints.cb_nodes or (1 if universe.cost.files is None else universe.cost.files.ports))
        known = {"aggregators": min(aggregators, p), "buffer_bytes": int(hints.cb_buffer_size or BUFFER_BYTES)}
        return ChosenAlgorithm(choice.algorithm.name, partial(choice.access, **known))

    def _prepare(
        self, chosen: ChosenAlgorithm, buffer: BufferDescription, where: OffsetOrPointer
    ) -> tuple[FileAccess, Callable[[], None]]:
        """Return this rank's access of a collective call by an algorithm, and the function that carries it out."""
        comm, opened, view, at = self._alive().comm, self._opened, self._alive().view, self._start_offset(where)
        tag, runs = comm._side.calls[comm._rank] % TAGS, list(view.runs(at, buffer.etypes * view.unit))
        self._check_races(runs, buffer)
        self._note(runs, buffer.write)
        if buffer.write:
            data, moved = buffer.payload, buffer.nbytes
        else:
            runs = clipped_runs(runs, opened.storage.size)
            data = np.empty(sum(length for _, length in runs), np.uint8)
            moved = len(data) // view.unit * view.etype._size if view.external else len(data)
        self._advance(where, at, buffer, moved)

        def work() -> None:
            try:
                chosen.run(*comm._collective_comms(), PlainBytes(opened, comm._loop), runs, data, tag=tag)
            except OSError as error:  # raised by another rank, with its error class
                sentence = f"{opened.path}: the access failed on another rank, the aggregator for this one."
                raise StorageError(getattr(error, "code", ERR_IO), sentence) from None
            if not buffer.write:
                copy_from_file(view, data, buffer)

        return FileAccess(comm._loop.now, moved), work

    def _background(
        self, call: str, chosen: ChosenAlgorithm, buffer: BufferDescription, where: OffsetOrPointer, arrival: Completion
    ) -> AllOf:
        """Start a child task that carries out the access after all ranks have called."""
        comm = self._alive().comm
        access, work = self._prepare(chosen, buffer, where)

        def wait_and_work() -> None:
            with TraceRegion(comm, call, access.capacity, collective=True, algorithm=chosen.name):
                wait_one(comm._loop, arrival)
                try:
                    work()
                except MPIError as error:
                    access.fail(error)

        return AllOf((start_child(comm._process, comm._context, wait_and_work), access))


def copy_from_file(view: View, data: Array, buffer: BufferDescription) -> int:
    """Copy bytes of the file to a buffer; return the number of bytes in memory."""
    if view.external:
        whole = len(data) // view.unit
        data = converted(view.etype._definition, data[: whole * view.unit], whole, outward=False)
    copy_into(data, buffer.payload, len(data))
    return len(data)
