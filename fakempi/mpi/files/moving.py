"""What all accesses are made of: bytes move between a buffer and the runs of a view, by each rank alone or by all together.

Together, ranks access the file each for itself as well, unless an algorithm is asked for: by the run
(`algorithms={"write_all": "two_phase"}`) or by the program's info (`romio_cb_write`). That runs on the hidden twin of
the file's communicator, and is handed a file of plain bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fakempi.error_classes import ERR_IO
from fakempi.errors import MPIError
from fakempi.mpi.base.agreement import TAGS
from fakempi.mpi.base.child import start_child
from fakempi.mpi.base.waiting import AllOf, wait_one
from fakempi.mpi.buffers.payload import copy_into, describe, describe_target, snapshot
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.datatypes.packing import converted
from fakempi.mpi.files.handle import Access, FileState
from fakempi.mpi.files.opened import SIZE, Opened
from fakempi.mpi.files.storage import StorageError
from fakempi.mpi.files.views import View, cut_off

OWN, SHARED = "own", "shared"
"""Pointers, in place of an offset."""

BUFFER_BYTES = 16 << 20
"""Of an aggregator, where nobody says it: as in ROMIO."""


class Described(NamedTuple):
    """A buffer, and how many etypes it holds. The payload of one to be written is its bytes, as they are in the file."""

    payload: Any
    nbytes: int
    etypes: int
    write: bool


class Chosen(NamedTuple):
    """An algorithm for accesses of all ranks: a function of communicator, file, runs and data."""

    name: str
    run: Callable[..., None]


class Told:
    """A part of the run's trace: a rank is in such a call."""

    __slots__ = ("_entered", "_recorder")

    def __init__(self, comm: Any, call: str, nbytes: int, *, together: bool = False, algorithm: str = "") -> None:
        process, running = comm._process, comm._loop.running
        self._recorder: Any = process.universe.recorder
        if self._recorder is None:
            return
        whose = {"context": comm._context.number, "number": comm._side.calls.get(comm._rank, 0)} if together else {}
        self._entered = self._recorder.enter(
            process.number, f"File.{call}", call=self._recorder.call(), nbytes=nbytes, algorithm=algorithm,
            lane=0 if running is process.task else running.number, **whose,
        )  # fmt: skip

    def __enter__(self) -> None:
        """It was entered as it was made."""

    def __exit__(self, *failure: object) -> None:
        if self._recorder is not None:
            self._recorder.leave(*self._entered)


class PlainBytes:
    """The file as an algorithm sees it: offsets are bytes, and an access takes its time."""

    __slots__ = ("_loop", "_opened")

    def __init__(self, opened: Opened, loop: Any) -> None:
        self._opened, self._loop = opened, loop

    def Write_at(self, offset: int, buf: Any) -> None:
        """Write bytes to a place."""
        self._opened.storage.write([(offset, buf.size)], buf)
        self._take_time(buf.size)

    def Read_at(self, offset: int, buf: Any) -> None:
        """Read bytes from a place."""
        found = self._opened.storage.read([(offset, buf.size)])
        buf[: found.size] = found
        self._take_time(buf.size)

    def _take_time(self, nbytes: int) -> None:
        wait_one(self._loop, Access(self._opened.over_at(nbytes, 1), nbytes))


class Moving(FileState):
    """The common part of all that reads and writes."""

    __slots__ = ()

    def _described(self, buf: Any, write: bool) -> Described:
        payload, nbytes = describe(buf) if write else describe_target(buf)
        if type(payload) is Phantom:
            self._refuse_phantom(nbytes)
        etypes = self._etypes(nbytes)
        if write:
            payload = self._outward(payload, etypes)
        return Described(payload, nbytes, etypes, write)

    def _outward(self, payload: Any, etypes: int) -> Any:
        """The bytes of a buffer, as they are in the file."""
        view, data = self._alive().view, np.ascontiguousarray(snapshot(payload)).reshape(-1).view(np.uint8)
        try:
            return converted(view.etype._definition, data, etypes, outward=True) if view.external else data
        except MPIError as error:
            self._raise(error)

    # -- alone ----------------------------------------------------------------------------------------------------

    def _access(self, buf: Any, where: Any, *, write: bool) -> Access:
        """Move bytes between a buffer and the file, at an offset or at a pointer, which moves on."""
        self._check(write=write, shared=where is SHARED)
        buffer = self._described(buf, write)
        if where is SHARED:
            self._await_turn()
        return self._at(buffer, where)

    def _await_turn(self) -> None:
        """Who comes first to the shared pointer is a choice, if choices are made in this run."""
        opened = self._opened
        if opened.universe.choices is not None and self._alive().comm.Get_size() > 1:
            opened.universe.choices.at_pointer(opened)

    def _at(self, buffer: Described, where: Any) -> Access:
        at = self._place(where)
        try:
            access = self._move(buffer, at)
        except MPIError as error:
            self._tell(error)
        self._advance(where, at, buffer, access.capacity)
        return access

    def _place(self, where: Any) -> int:
        """Where an access begins, in etypes."""
        return self._alive().pointer if where is OWN else self._opened.pointer if where is SHARED else self._offset(where)

    def _advance(self, where: Any, at: int, buffer: Described, moved: int) -> None:
        """Move the pointer on; an etype that came in part counts."""
        part = self._alive()
        if where is OWN:
            part.pointer = at - -moved // part.view.etype._size
        elif where is SHARED:
            self._opened.pointer = at + buffer.etypes

    def _move(self, buffer: Described, at: int) -> Access:
        """Move the bytes of so many etypes; at the end of the file, as many as there are."""
        opened, view = self._opened, self._alive().view
        runs = list(view.runs(at, buffer.etypes * view.unit))
        self._note(runs, buffer.write)
        if buffer.write:
            data, moved = buffer.payload, buffer.nbytes
            opened.storage.write(runs, data)
        else:
            data = opened.storage.read(runs)
            moved = inward(view, data, buffer)
        return Access(opened.over_at(len(data), len(runs)), moved)

    def _note(self, runs: list[tuple[int, int]], write: bool) -> None:
        """If choices are made in this run: which bytes are accessed, and whether it makes the file longer."""
        opened = self._opened
        if opened.universe.choices is not None:
            grows = write and any(start + length > opened.storage.size for start, length in runs)
            opened.note(self._alive().comm, [*runs, SIZE] if grows else runs, write=write)

    # -- together -------------------------------------------------------------------------------------------------

    def _choice(self, write: bool) -> Chosen | None:
        """The algorithm for accesses of all ranks, if one is asked for: as many aggregators as the file server has ports."""
        part, universe = self._alive(), self._opened.universe
        hints, p = part.hints, part.comm.Get_size()
        hint = hints.romio_cb_write if write else hints.romio_cb_read
        choice = universe.choose_files("write_all" if write else "read_all", p, hinted=hint == "enable")
        if choice is None or hint == "disable":
            return None
        aggregators = int(hints.cb_nodes or (1 if universe.cost.files is None else universe.cost.files.ports))
        known = {"aggregators": min(aggregators, p), "buffer_bytes": int(hints.cb_buffer_size or BUFFER_BYTES)}
        return Chosen(choice.algorithm.name, partial(choice.access, **known))

    def _plan(self, chosen: Chosen, buffer: Described, where: Any) -> tuple[Access, Callable[[], None]]:
        """An access of all ranks by an algorithm, for the call that this rank has come to: what it moves, and how."""
        comm, opened, view, at = self._alive().comm, self._opened, self._alive().view, self._place(where)
        tag, runs = comm._side.calls[comm._rank] % TAGS, list(view.runs(at, buffer.etypes * view.unit))
        self._note(runs, buffer.write)
        if buffer.write:
            data, moved = buffer.payload, buffer.nbytes
        else:
            runs = cut_off(runs, opened.storage.size)
            data = np.empty(sum(length for _, length in runs), np.uint8)
            moved = len(data) // view.unit * view.etype._size if view.external else len(data)
        self._advance(where, at, buffer, moved)

        def work() -> None:
            try:
                chosen.run(*comm._twins(), PlainBytes(opened, comm._loop), runs, data, tag=tag)
            except OSError as error:  # of another rank, which has told its class
                words = f"{opened.path}: another rank, which accesses the file for this one, could not do so."
                raise StorageError(getattr(error, "code", ERR_IO), words) from None
            if not buffer.write:
                inward(view, data, buffer)

        return Access(comm._loop.now, moved), work

    def _background(self, call: str, chosen: Chosen, buffer: Described, where: Any, arrival: Any) -> AllOf:
        """Have a child task carry it out when all ranks have come."""
        comm = self._alive().comm
        access, work = self._plan(chosen, buffer, where)

        def come_and_work() -> None:
            with Told(comm, call, access.capacity, together=True, algorithm=chosen.name):
                wait_one(comm._loop, arrival)
                try:
                    work()
                except MPIError as error:
                    access.fail(error)

        return AllOf((start_child(comm._process, comm._context, come_and_work), access))


def inward(view: View, data: Any, buffer: Described) -> int:
    """Put bytes of the file into a buffer; returns how many bytes of memory they are."""
    if view.external:
        whole = len(data) // view.unit
        data = converted(view.etype._definition, data[: whole * view.unit], whole, outward=False)
    copy_into(data, buffer.payload, len(data))
    return len(data)
