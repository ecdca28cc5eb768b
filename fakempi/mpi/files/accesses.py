"""The calls that read and write: at an offset, at this rank's pointer, at the shared one; alone, or all ranks together.

All are made of three: `_access` moves the bytes and says when that is over, `_all` has all ranks of the file come to the
call, and `_in_order` deals the shared pointer out by rank. A nonblocking call returns a request for the same, and of a split
one the first half begins it and the second waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import AllOf, error_of, wait_one
from fakempi.mpi.buffers.payload import copy_into, describe, describe_target, snapshot
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.datatypes.packing import converted
from fakempi.mpi.files.handle import Access, FileState
from fakempi.mpi.point.handle import fill_status
from fakempi.mpi.point.request import Request

OWN, SHARED = "own", "shared"
"""Pointers, in place of an offset."""


class Accesses(FileState):
    """All that reads and writes."""

    __slots__ = ()

    # -- at an offset ---------------------------------------------------------------------------------------------

    def Read_at(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """Read from an offset, in etypes."""
        self._wait(self._access(buf, offset, write=False), status)

    def Read_at_all(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """All ranks read, each from its offset."""
        self._wait(self._all("Read_at_all", buf, offset, write=False), status)

    def Write_at(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """Write to an offset, in etypes."""
        self._wait(self._access(buf, offset, write=True), status)

    def Write_at_all(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """All ranks write, each to its offset."""
        self._wait(self._all("Write_at_all", buf, offset, write=True), status)

    def Iread_at(self, offset: int, buf: Any) -> Request:
        """Start to read from an offset."""
        return self._request(self._access(buf, offset, write=False), buf)

    def Iread_at_all(self, offset: int, buf: Any) -> Request:
        """Start to read, all ranks, each from its offset."""
        return self._request(self._together("Iread_at_all", self._access(buf, offset, write=False)), buf)

    def Iwrite_at(self, offset: int, buf: Any) -> Request:
        """Start to write to an offset."""
        return self._request(self._access(buf, offset, write=True), buf)

    def Iwrite_at_all(self, offset: int, buf: Any) -> Request:
        """Start to write, all ranks, each to its offset."""
        return self._request(self._together("Iwrite_at_all", self._access(buf, offset, write=True)), buf)

    # -- at this rank's pointer -----------------------------------------------------------------------------------

    def Read(self, buf: Any, status: Status | None = None) -> None:
        """Read on from this rank's pointer."""
        self._wait(self._access(buf, OWN, write=False), status)

    def Read_all(self, buf: Any, status: Status | None = None) -> None:
        """All ranks read, each on from its pointer."""
        self._wait(self._all("Read_all", buf, OWN, write=False), status)

    def Write(self, buf: Any, status: Status | None = None) -> None:
        """Write on from this rank's pointer."""
        self._wait(self._access(buf, OWN, write=True), status)

    def Write_all(self, buf: Any, status: Status | None = None) -> None:
        """All ranks write, each on from its pointer."""
        self._wait(self._all("Write_all", buf, OWN, write=True), status)

    def Iread(self, buf: Any) -> Request:
        """Start to read on from this rank's pointer."""
        return self._request(self._access(buf, OWN, write=False), buf)

    def Iread_all(self, buf: Any) -> Request:
        """Start to read, all ranks, each on from its pointer."""
        return self._request(self._together("Iread_all", self._access(buf, OWN, write=False)), buf)

    def Iwrite(self, buf: Any) -> Request:
        """Start to write on from this rank's pointer."""
        return self._request(self._access(buf, OWN, write=True), buf)

    def Iwrite_all(self, buf: Any) -> Request:
        """Start to write, all ranks, each on from its pointer."""
        return self._request(self._together("Iwrite_all", self._access(buf, OWN, write=True)), buf)

    # -- at the shared pointer ------------------------------------------------------------------------------------

    def Read_shared(self, buf: Any, status: Status | None = None) -> None:
        """Read on from the shared pointer; who comes first is served first."""
        self._wait(self._access(buf, SHARED, write=False), status)

    def Write_shared(self, buf: Any, status: Status | None = None) -> None:
        """Write on from the shared pointer; who comes first is served first."""
        self._wait(self._access(buf, SHARED, write=True), status)

    def Iread_shared(self, buf: Any) -> Request:
        """Start to read on from the shared pointer."""
        return self._request(self._access(buf, SHARED, write=False), buf)

    def Iwrite_shared(self, buf: Any) -> Request:
        """Start to write on from the shared pointer."""
        return self._request(self._access(buf, SHARED, write=True), buf)

    def Read_ordered(self, buf: Any, status: Status | None = None) -> None:
        """All ranks read on from the shared pointer, in the order of their ranks."""
        self._wait(self._in_order("Read_ordered", buf, write=False), status)

    def Write_ordered(self, buf: Any, status: Status | None = None) -> None:
        """All ranks write on from the shared pointer, in the order of their ranks."""
        self._wait(self._in_order("Write_ordered", buf, write=True), status)

    # -- in two halves --------------------------------------------------------------------------------------------

    def Read_at_all_begin(self, offset: int, buf: Any) -> None:
        """The first half of Read_at_all."""
        self._begin("Read_at_all", lambda name: self._all(name, buf, offset, write=False))

    def Read_at_all_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Read_at_all."""
        self._end("Read_at_all", status)

    def Write_at_all_begin(self, offset: int, buf: Any) -> None:
        """The first half of Write_at_all."""
        self._begin("Write_at_all", lambda name: self._all(name, buf, offset, write=True))

    def Write_at_all_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Write_at_all."""
        self._end("Write_at_all", status)

    def Read_all_begin(self, buf: Any) -> None:
        """The first half of Read_all."""
        self._begin("Read_all", lambda name: self._all(name, buf, OWN, write=False))

    def Read_all_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Read_all."""
        self._end("Read_all", status)

    def Write_all_begin(self, buf: Any) -> None:
        """The first half of Write_all."""
        self._begin("Write_all", lambda name: self._all(name, buf, OWN, write=True))

    def Write_all_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Write_all."""
        self._end("Write_all", status)

    def Read_ordered_begin(self, buf: Any) -> None:
        """The first half of Read_ordered."""
        self._begin("Read_ordered", lambda name: self._in_order(name, buf, write=False))

    def Read_ordered_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Read_ordered."""
        self._end("Read_ordered", status)

    def Write_ordered_begin(self, buf: Any) -> None:
        """The first half of Write_ordered."""
        self._begin("Write_ordered", lambda name: self._in_order(name, buf, write=True))

    def Write_ordered_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Write_ordered."""
        self._end("Write_ordered", status)

    # -- what they are made of ------------------------------------------------------------------------------------

    def _access(self, buf: Any, where: Any, *, write: bool) -> Access:
        """Move bytes between a buffer and the file, at an offset or at a pointer, which moves on."""
        part = self._check(write=write, shared=where is SHARED)
        payload, count = self._described(buf, write)
        at = part.pointer if where is OWN else self._opened.pointer if where is SHARED else self._offset(where)
        access = self._move(payload, at, count, write)
        if where is OWN:
            part.pointer = at - -access.capacity // part.view.etype._size  # an etype that came in part counts
        elif where is SHARED:
            self._opened.pointer = at + count
        return access

    def _described(self, buf: Any, write: bool) -> tuple[Any, int]:
        """A buffer as a payload, and how many etypes it holds."""
        payload, nbytes = describe(buf) if write else describe_target(buf)
        if type(payload) is Phantom:
            self._refuse_phantom(nbytes)
        return payload, self._etypes(nbytes)

    def _move(self, payload: Any, at: int, count: int, write: bool) -> Access:
        """Move the bytes of so many etypes; at the end of the file, as many as there are."""
        opened, view = self._opened, self._alive().view
        runs = list(view.runs(at, count * view.unit))
        if write:
            data = np.ascontiguousarray(snapshot(payload)).reshape(-1).view(np.uint8)
            moved = len(data)
            if view.external:
                data = converted(view.etype._definition, data, count, outward=True)
            opened.storage.write(runs, data)
        else:
            data = opened.storage.read(runs)
            if view.external:
                whole = len(data) // view.unit
                data = converted(view.etype._definition, data[: whole * view.unit], whole, outward=False)
            moved = len(data)
            copy_into(data, payload, moved)
        return Access(opened.over_at(moved, len(runs)), moved)

    def _all(self, call: str, buf: Any, where: Any, *, write: bool) -> Any:
        """All ranks of the file access it: what they write is there when they have met, and they read after that."""
        if write:
            return self._together(call, self._access(buf, where, write=True))
        self._check(write=False)
        self._alive().comm._meet(f"File.{call}", None, lambda values: None)
        return self._access(buf, where, write=False)

    def _together(self, call: str, access: Access) -> Any:
        """All ranks of the file come to this call."""
        arrival = self._alive().comm._arrive(f"File.{call}", None, lambda values: None)
        return AllOf((arrival, access))

    def _in_order(self, call: str, buf: Any, *, write: bool) -> Access:
        """When all ranks have come, the shared pointer passes over what each has, in the order of ranks."""
        part, opened = self._check(write=write, shared=True), self._opened
        payload, count = self._described(buf, write)

        def move_all(parts: dict[int, tuple[int, Callable[[int], Access]]]) -> list[Access]:
            accesses = []
            for place in range(len(parts)):
                etypes, move = parts[place]
                accesses.append(move(opened.pointer))
                opened.pointer += etypes
            return accesses

        mine = count, lambda at: self._move(payload, at, count, write)
        accesses: list[Access] = part.comm._meet(f"File.{call}", mine, move_all)
        rank: int = part.comm.Get_rank()
        return accesses[rank]

    def _wait(self, operation: Any, status: Status | None) -> None:
        part = self._alive()
        wait_one(part.comm._loop, operation)
        if (failed := error_of(operation)) is not None:
            self._raise(failed)
        if status is not None:
            access = operation.operations[-1] if operation.__class__ is AllOf else operation
            fill_status(status, access)

    def _request(self, operation: Any, buf: Any) -> Request:
        return Request._of(self._alive().comm, operation, buf)

    def _begin(self, call: str, start: Any) -> None:
        part = self._alive()
        if part.split is not None:
            self._complain_of_split(f"{part.split[0]}_begin has been called, and not {part.split[0]}_end.")
        part.split = call, start(f"{call}_begin")

    def _end(self, call: str, status: Status | None) -> None:
        part = self._alive()
        if part.split is None or part.split[0] != call:
            begun = "nothing" if part.split is None else f"{part.split[0]}_begin"
            self._complain_of_split(f"{call}_begin has not been called, but {begun}.")
        operation, part.split = part.split[1], None
        self._wait(operation, status)
