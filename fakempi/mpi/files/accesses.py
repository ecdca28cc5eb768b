"""The calls that read and write: at an offset, at this rank's pointer, at the shared one; alone, or all ranks together.

All are made of few: `_alone`; `_together`, to which all ranks of the file come; `_ordered`, which deals the shared pointer
out by rank. A nonblocking call returns a request for the same. Of a split one, the first half begins and the second waits.
"""

from __future__ import annotations

from typing import Any

from fakempi.errors import MPIError
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import AllOf, error_of, wait_one
from fakempi.mpi.files.handle import Access
from fakempi.mpi.files.moving import OWN, SHARED, Described, Moving, Told
from fakempi.mpi.point.arrival import taken_out
from fakempi.mpi.point.handle import fill_status
from fakempi.mpi.point.request import Request


class Accesses(Moving):
    """All that reads and writes."""

    __slots__ = ()

    # -- at an offset ---------------------------------------------------------------------------------------------

    def Read_at(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """Read from an offset, in etypes."""
        self._alone("Read_at", buf, offset, status, write=False)

    def Read_at_all(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """All ranks read, each from its offset."""
        self._together("Read_at_all", buf, offset, status, write=False)

    def Write_at(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """Write to an offset, in etypes."""
        self._alone("Write_at", buf, offset, status, write=True)

    def Write_at_all(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """All ranks write, each to its offset."""
        self._together("Write_at_all", buf, offset, status, write=True)

    def Iread_at(self, offset: int, buf: Any) -> Request:
        """Start to read from an offset."""
        return self._request(self._access(buf, offset, write=False), buf, write=False)

    def Iread_at_all(self, offset: int, buf: Any) -> Request:
        """Start to read, all ranks, each from its offset."""
        return self._request(self._start("Iread_at_all", buf, offset, write=False), buf, write=False)

    def Iwrite_at(self, offset: int, buf: Any) -> Request:
        """Start to write to an offset."""
        return self._request(self._access(buf, offset, write=True), buf, write=True)

    def Iwrite_at_all(self, offset: int, buf: Any) -> Request:
        """Start to write, all ranks, each to its offset."""
        return self._request(self._start("Iwrite_at_all", buf, offset, write=True), buf, write=True)

    # -- at this rank's pointer -----------------------------------------------------------------------------------

    def Read(self, buf: Any, status: Status | None = None) -> None:
        """Read on from this rank's pointer."""
        self._alone("Read", buf, OWN, status, write=False)

    def Read_all(self, buf: Any, status: Status | None = None) -> None:
        """All ranks read, each on from its pointer."""
        self._together("Read_all", buf, OWN, status, write=False)

    def Write(self, buf: Any, status: Status | None = None) -> None:
        """Write on from this rank's pointer."""
        self._alone("Write", buf, OWN, status, write=True)

    def Write_all(self, buf: Any, status: Status | None = None) -> None:
        """All ranks write, each on from its pointer."""
        self._together("Write_all", buf, OWN, status, write=True)

    def Iread(self, buf: Any) -> Request:
        """Start to read on from this rank's pointer."""
        return self._request(self._access(buf, OWN, write=False), buf, write=False)

    def Iread_all(self, buf: Any) -> Request:
        """Start to read, all ranks, each on from its pointer."""
        return self._request(self._start("Iread_all", buf, OWN, write=False), buf, write=False)

    def Iwrite(self, buf: Any) -> Request:
        """Start to write on from this rank's pointer."""
        return self._request(self._access(buf, OWN, write=True), buf, write=True)

    def Iwrite_all(self, buf: Any) -> Request:
        """Start to write, all ranks, each on from its pointer."""
        return self._request(self._start("Iwrite_all", buf, OWN, write=True), buf, write=True)

    # -- at the shared pointer ------------------------------------------------------------------------------------

    def Read_shared(self, buf: Any, status: Status | None = None) -> None:
        """Read on from the shared pointer; who comes first is served first."""
        self._alone("Read_shared", buf, SHARED, status, write=False)

    def Write_shared(self, buf: Any, status: Status | None = None) -> None:
        """Write on from the shared pointer; who comes first is served first."""
        self._alone("Write_shared", buf, SHARED, status, write=True)

    def Iread_shared(self, buf: Any) -> Request:
        """Start to read on from the shared pointer."""
        return self._request(self._access(buf, SHARED, write=False), buf, write=False)

    def Iwrite_shared(self, buf: Any) -> Request:
        """Start to write on from the shared pointer."""
        return self._request(self._access(buf, SHARED, write=True), buf, write=True)

    def Read_ordered(self, buf: Any, status: Status | None = None) -> None:
        """All ranks read on from the shared pointer, in the order of their ranks."""
        self._ordered("Read_ordered", buf, status, write=False)

    def Write_ordered(self, buf: Any, status: Status | None = None) -> None:
        """All ranks write on from the shared pointer, in the order of their ranks."""
        self._ordered("Write_ordered", buf, status, write=True)

    # -- in two halves --------------------------------------------------------------------------------------------

    def Read_at_all_begin(self, offset: int, buf: Any) -> None:
        """The first half of Read_at_all."""
        self._begin("Read_at_all", lambda call: self._start(call, buf, offset, write=False))

    def Read_at_all_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Read_at_all."""
        self._end("Read_at_all", status)

    def Write_at_all_begin(self, offset: int, buf: Any) -> None:
        """The first half of Write_at_all."""
        self._begin("Write_at_all", lambda call: self._start(call, buf, offset, write=True))

    def Write_at_all_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Write_at_all."""
        self._end("Write_at_all", status)

    def Read_all_begin(self, buf: Any) -> None:
        """The first half of Read_all."""
        self._begin("Read_all", lambda call: self._start(call, buf, OWN, write=False))

    def Read_all_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Read_all."""
        self._end("Read_all", status)

    def Write_all_begin(self, buf: Any) -> None:
        """The first half of Write_all."""
        self._begin("Write_all", lambda call: self._start(call, buf, OWN, write=True))

    def Write_all_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Write_all."""
        self._end("Write_all", status)

    def Read_ordered_begin(self, buf: Any) -> None:
        """The first half of Read_ordered."""
        self._begin("Read_ordered", lambda call: self._start_ordered(call, buf, write=False))

    def Read_ordered_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Read_ordered."""
        self._end("Read_ordered", status)

    def Write_ordered_begin(self, buf: Any) -> None:
        """The first half of Write_ordered."""
        self._begin("Write_ordered", lambda call: self._start_ordered(call, buf, write=True))

    def Write_ordered_end(self, buf: Any, status: Status | None = None) -> None:
        """The second half of Write_ordered."""
        self._end("Write_ordered", status)

    # -- how they are carried out ---------------------------------------------------------------------------------

    def _alone(self, call: str, buf: Any, where: Any, status: Status | None, *, write: bool) -> None:
        """Access the file, whatever the others do."""
        access = self._access(buf, where, write=write)
        with Told(self._alive().comm, call, access.capacity):
            self._wait(access, status)

    def _together(self, call: str, buf: Any, where: Any, status: Status | None, *, write: bool) -> None:
        """All ranks of the file access it: what they write is there when they have met, and they read after that."""
        comm = self._check(write=write).comm
        buffer, chosen = self._described(buf, write), self._choice(write)
        arrival = comm._arrive(f"File.{call}", None, lambda values: None)
        with Told(comm, call, buffer.nbytes, together=True, algorithm="" if chosen is None else chosen.name):
            if chosen is None and write:
                self._wait(AllOf((arrival, self._at(buffer, where))), status)
                return
            comm._concluded(arrival)
            self._wait(self._at(buffer, where) if chosen is None else self._by(chosen, buffer, where), status)

    def _by(self, chosen: Any, buffer: Described, where: Any) -> Access:
        """Have an algorithm access the file, now that all have come."""
        access, work = self._plan(chosen, buffer, where)
        try:
            work()
        except MPIError as error:
            self._tell(error)
        return access

    def _start(self, call: str, buf: Any, where: Any, *, write: bool) -> AllOf:
        """Begin an access to which all ranks of the file come, and return what to wait for."""
        comm = self._check(write=write).comm
        buffer, chosen = self._described(buf, write), self._choice(write)
        arrival = comm._arrive(f"File.{call}", None, lambda values: None)
        if chosen is not None:
            return self._background(call, chosen, buffer, where, arrival)
        return AllOf((arrival, self._at(buffer, where)))

    def _ordered(self, call: str, buf: Any, status: Status | None, *, write: bool) -> None:
        """All ranks access the file, at the shared pointer and in the order of their ranks."""
        comm, (buffer, chosen, arrival) = self._alive().comm, self._dealt_out(call, buf, write)
        with Told(comm, call, buffer.nbytes, together=True, algorithm="" if chosen is None else chosen.name):
            at = self._given(arrival)
            self._wait(at if chosen is None else self._by(chosen, buffer, at), status)

    def _start_ordered(self, call: str, buf: Any, *, write: bool) -> Any:
        """Begin the same; it is begun when all have come."""
        buffer, chosen, arrival = self._dealt_out(call, buf, write)
        at = self._given(arrival)
        return at if chosen is None else self._background(call, chosen, buffer, at, arrival)

    def _dealt_out(self, call: str, buf: Any, write: bool) -> tuple[Described, Any, Any]:
        """When all ranks have come, the shared pointer passes over what each has, in the order of ranks.

        What they are told there is their access or, if that is an algorithm's business, where it begins.
        """
        comm, opened = self._check(write=write, shared=True).comm, self._opened
        buffer, chosen = self._described(buf, write), self._choice(write)

        def deal(parts: dict[int, Any]) -> list[Any]:
            given = []
            for place in range(len(parts)):
                file, each = parts[place]
                given.append(file._move(each, opened.pointer) if chosen is None else opened.pointer)
                opened.pointer += each.etypes
            return given

        return buffer, chosen, comm._arrive(f"File.{call}", (self, buffer), deal)

    def _given(self, arrival: Any) -> Any:
        """What this rank is told when all have come."""
        comm = self._alive().comm
        try:
            return comm._concluded(arrival)[comm.Get_rank()]
        except MPIError as error:
            self._tell(error)

    def _wait(self, operation: Any, status: Status | None) -> None:
        wait_one(self._alive().comm._loop, operation)
        if (failed := error_of(operation)) is not None:
            self._raise(failed)
        access = operation.operations[-1] if operation.__class__ is AllOf else operation
        if status is not None:
            fill_status(status, access)
        if (error := taken_out(access, False, None, None)[1]) is not None:
            self._raise(error)

    def _request(self, operation: Any, buf: Any, *, write: bool) -> Request:
        comm = self._alive().comm
        request = Request._of(comm, operation)
        if comm._pins is not None:
            request._pin = comm._pins.of_file(operation, buf, writes=not write)
        return request

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
