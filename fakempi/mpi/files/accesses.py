"""The calls that read and write: at an offset, at this rank's pointer, or at the shared one; independent or collective.

Three methods implement them: `_independent`, `_collective`, and `_ordered`, which divides the shared pointer by rank. A
nonblocking call returns a request. The first half of a split collective call starts the access, and the second half waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.errors import MPIError
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import AllOf, error_of, parts_of, wait_one
from fakempi.mpi.buffers.typing import BufSpec
from fakempi.mpi.files.handle import FileAccess
from fakempi.mpi.files.transfers import (
    INDIVIDUAL,
    INDIVIDUAL_NONBLOCKING,
    SHARED,
    BufferDescription,
    ChosenAlgorithm,
    FileTransfers,
    OffsetOrPointer,
    TraceRegion,
    record_access,
)
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.point.arrival import receive_result
from fakempi.mpi.point.handle import fill_status
from fakempi.mpi.point.request import Request

FILE_BUFFERS = "when nonblocking writes to files, and split or two-phase accesses, use their buffers"
"""Noted as unexplored: these accesses use their buffers at the call, or when all ranks have called."""


class FileAccesses(FileTransfers):
    """The methods of File that read and write."""

    __slots__ = ()

    # -- at an offset ---------------------------------------------------------------------------------------------

    def Read_at(self, offset: int, buf: BufSpec, status: Status | None = None) -> None:
        """Read from an offset, in etypes."""
        self._independent("Read_at", buf, offset, status, write=False)

    def Read_at_all(self, offset: int, buf: BufSpec, status: Status | None = None) -> None:
        """Read collectively, each rank from its offset."""
        self._collective("Read_at_all", buf, offset, status, write=False)

    def Write_at(self, offset: int, buf: BufSpec, status: Status | None = None) -> None:
        """Write to an offset, in etypes."""
        self._independent("Write_at", buf, offset, status, write=True)

    def Write_at_all(self, offset: int, buf: BufSpec, status: Status | None = None) -> None:
        """Write collectively, each rank to its offset."""
        self._collective("Write_at_all", buf, offset, status, write=True)

    def Iread_at(self, offset: int, buf: BufSpec) -> Request:
        """Start to read from an offset."""
        return self._request(self._access(buf, offset, write=False), buf, write=False)

    def Iread_at_all(self, offset: int, buf: BufSpec) -> Request:
        """Start to read collectively, each rank from its offset."""
        return self._request(self._start("Iread_at_all", buf, offset, write=False), buf, write=False)

    def Iwrite_at(self, offset: int, buf: BufSpec) -> Request:
        """Start to write to an offset."""
        return self._request(self._access(buf, offset, write=True), buf, write=True)

    def Iwrite_at_all(self, offset: int, buf: BufSpec) -> Request:
        """Start to write collectively, each rank to its offset."""
        return self._request(self._start("Iwrite_at_all", buf, offset, write=True), buf, write=True)

    # -- at this rank's pointer -----------------------------------------------------------------------------------

    def Read(self, buf: BufSpec, status: Status | None = None) -> None:
        """Read at this rank's pointer."""
        self._independent("Read", buf, INDIVIDUAL, status, write=False)

    def Read_all(self, buf: BufSpec, status: Status | None = None) -> None:
        """Read collectively, each rank at its pointer."""
        self._collective("Read_all", buf, INDIVIDUAL, status, write=False)

    def Write(self, buf: BufSpec, status: Status | None = None) -> None:
        """Write at this rank's pointer."""
        self._independent("Write", buf, INDIVIDUAL, status, write=True)

    def Write_all(self, buf: BufSpec, status: Status | None = None) -> None:
        """Write collectively, each rank at its pointer."""
        self._collective("Write_all", buf, INDIVIDUAL, status, write=True)

    def Iread(self, buf: BufSpec) -> Request:
        """Start to read at this rank's pointer."""
        return self._request(self._access(buf, INDIVIDUAL_NONBLOCKING, write=False), buf, write=False)

    def Iread_all(self, buf: BufSpec) -> Request:
        """Start to read collectively, each rank at its pointer."""
        return self._request(self._start("Iread_all", buf, INDIVIDUAL_NONBLOCKING, write=False), buf, write=False)

    def Iwrite(self, buf: BufSpec) -> Request:
        """Start to write at this rank's pointer."""
        return self._request(self._access(buf, INDIVIDUAL_NONBLOCKING, write=True), buf, write=True)

    def Iwrite_all(self, buf: BufSpec) -> Request:
        """Start to write collectively, each rank at its pointer."""
        return self._request(self._start("Iwrite_all", buf, INDIVIDUAL_NONBLOCKING, write=True), buf, write=True)

    # -- at the shared pointer ------------------------------------------------------------------------------------

    def Read_shared(self, buf: BufSpec, status: Status | None = None) -> None:
        """Read at the shared pointer, in the order of calls."""
        self._independent("Read_shared", buf, SHARED, status, write=False)

    def Write_shared(self, buf: BufSpec, status: Status | None = None) -> None:
        """Write at the shared pointer, in the order of calls."""
        self._independent("Write_shared", buf, SHARED, status, write=True)

    def Iread_shared(self, buf: BufSpec) -> Request:
        """Start to read at the shared pointer."""
        return self._request(self._access(buf, SHARED, write=False), buf, write=False)

    def Iwrite_shared(self, buf: BufSpec) -> Request:
        """Start to write at the shared pointer."""
        return self._request(self._access(buf, SHARED, write=True), buf, write=True)

    def Read_ordered(self, buf: BufSpec, status: Status | None = None) -> None:
        """Read collectively at the shared pointer, in the order of ranks."""
        self._ordered("Read_ordered", buf, status, write=False)

    def Write_ordered(self, buf: BufSpec, status: Status | None = None) -> None:
        """Write collectively at the shared pointer, in the order of ranks."""
        self._ordered("Write_ordered", buf, status, write=True)

    # -- split collective calls -----------------------------------------------------------------------------------

    def Read_at_all_begin(self, offset: int, buf: BufSpec) -> None:
        """The first half of Read_at_all."""
        self._begin("Read_at_all", lambda call: self._start(call, buf, offset, write=False))

    def Read_at_all_end(self, buf: BufSpec, status: Status | None = None) -> None:
        """The second half of Read_at_all."""
        self._end("Read_at_all", status)

    def Write_at_all_begin(self, offset: int, buf: BufSpec) -> None:
        """The first half of Write_at_all."""
        self._begin("Write_at_all", lambda call: self._start(call, buf, offset, write=True))

    def Write_at_all_end(self, buf: BufSpec, status: Status | None = None) -> None:
        """The second half of Write_at_all."""
        self._end("Write_at_all", status)

    def Read_all_begin(self, buf: BufSpec) -> None:
        """The first half of Read_all."""
        self._begin("Read_all", lambda call: self._start(call, buf, INDIVIDUAL_NONBLOCKING, write=False))

    def Read_all_end(self, buf: BufSpec, status: Status | None = None) -> None:
        """The second half of Read_all."""
        self._end("Read_all", status)

    def Write_all_begin(self, buf: BufSpec) -> None:
        """The first half of Write_all."""
        self._begin("Write_all", lambda call: self._start(call, buf, INDIVIDUAL_NONBLOCKING, write=True))

    def Write_all_end(self, buf: BufSpec, status: Status | None = None) -> None:
        """The second half of Write_all."""
        self._end("Write_all", status)

    def Read_ordered_begin(self, buf: BufSpec) -> None:
        """The first half of Read_ordered."""
        self._begin("Read_ordered", lambda call: self._start_ordered(call, buf, write=False))

    def Read_ordered_end(self, buf: BufSpec, status: Status | None = None) -> None:
        """The second half of Read_ordered."""
        self._end("Read_ordered", status)

    def Write_ordered_begin(self, buf: BufSpec) -> None:
        """The first half of Write_ordered."""
        self._begin("Write_ordered", lambda call: self._start_ordered(call, buf, write=True))

    def Write_ordered_end(self, buf: BufSpec, status: Status | None = None) -> None:
        """The second half of Write_ordered."""
        self._end("Write_ordered", status)

    # -- implementation -------------------------------------------------------------------------------------------

    def _independent(self, call: str, buf: BufSpec, where: OffsetOrPointer, status: Status | None, *, write: bool) -> None:
        """Access the file independently of other ranks."""
        access = self._access(buf, where, write=write)
        with TraceRegion(self._alive().comm, call, access.capacity):
            self._wait(access, status)

    def _collective(self, call: str, buf: BufSpec, where: OffsetOrPointer, status: Status | None, *, write: bool) -> None:
        """Access the file collectively: writes are complete when all ranks have called, and reads begin after that."""
        comm = self._check(write=write).comm
        buffer, chosen = self._described(buf, write), self._choice(write)
        arrival = comm._arrive(f"File.{call}", None, lambda values: None)
        with TraceRegion(comm, call, buffer.nbytes, collective=True, algorithm="" if chosen is None else chosen.name):
            if chosen is None and write:
                self._wait(AllOf((arrival, self._transfer(buffer, where))), status)
                return
            comm._rendezvous_result(arrival)
            access = self._transfer(buffer, where) if chosen is None else self._by_algorithm(chosen, buffer, where)
            self._wait(access, status)

    def _by_algorithm(self, chosen: ChosenAlgorithm, buffer: BufferDescription, where: OffsetOrPointer) -> FileAccess:
        """Access the file by an algorithm, after all ranks have called."""
        access, work = self._prepare(chosen, buffer, where)
        try:
            work()
        except MPIError as error:
            self._raise_with_call(error)
        return access

    def _start(self, call: str, buf: BufSpec, where: OffsetOrPointer, *, write: bool) -> AllOf:
        """Start a collective access, and return the operation to wait for."""
        comm = self._check(write=write).comm
        buffer, chosen = self._described(buf, write), self._choice(write)
        arrival = comm._arrive(f"File.{call}", None, lambda values: None)
        if chosen is not None:
            return self._background(call, chosen, buffer, where, arrival)
        return AllOf((arrival, self._transfer(buffer, where)))

    def _ordered(self, call: str, buf: BufSpec, status: Status | None, *, write: bool) -> None:
        """Access the file collectively, at the shared pointer and in the order of ranks."""
        comm, (buffer, chosen, arrival) = self._alive().comm, self._divide_pointer(call, buf, write)
        with TraceRegion(comm, call, buffer.nbytes, collective=True, algorithm="" if chosen is None else chosen.name):
            at = self._after_all_called(arrival)
            self._wait(at if chosen is None else self._by_algorithm(chosen, buffer, at), status)

    def _start_ordered(self, call: str, buf: BufSpec, *, write: bool) -> Any:
        """Start an access as `_ordered`; waits until all ranks have called."""
        buffer, chosen, arrival = self._divide_pointer(call, buf, write)
        at = self._after_all_called(arrival)
        return at if chosen is None else self._background(call, chosen, buffer, at, arrival)

    def _divide_pointer(self, call: str, buf: BufSpec, write: bool) -> tuple[BufferDescription, Any, Any]:
        """Register the call; once all ranks have called, assign each its part at the shared pointer, in the order of ranks.

        The result for each rank is its access, or the offset where its part begins if an algorithm carries out the access.
        """
        comm, opened = self._check(write=write, shared=True).comm, self._opened
        buffer, chosen = self._described(buf, write), self._choice(write)

        def assign_parts(parts: dict[int, Any]) -> list[Any]:
            given = []
            for rank in range(len(parts)):
                file, described = parts[rank]
                given.append(file._transfer_at(described, opened.pointer) if chosen is None else opened.pointer)
                opened.pointer += described.etypes
            return given

        return buffer, chosen, comm._arrive(f"File.{call}", (self, buffer), assign_parts)

    def _after_all_called(self, arrival: Any) -> Any:
        """Wait until all ranks have called, and return this rank's result."""
        comm = self._alive().comm
        try:
            return comm._rendezvous_result(arrival)[comm.Get_rank()]
        except MPIError as error:
            self._raise_with_call(error)

    def _wait(self, operation: Operation, status: Status | None) -> None:
        wait_one(self._alive().comm._loop, operation)
        if (failed := error_of(operation)) is not None:
            self._raise(failed)
        access: Any = operation.operations[-1] if operation.__class__ is AllOf else operation
        if status is not None:
            fill_status(status, access)
        if (error := receive_result(access, False, None, None)[1]) is not None:
            self._raise(error)

    def _request(self, operation: Operation, buf: BufSpec, *, write: bool) -> Request:
        comm = self._alive().comm
        if comm._process.universe.recorder is not None:
            record_access(comm, operation, write=write)
        request = Request._of(comm, operation)
        if write or any(isinstance(getattr(part, "why", None), ChildTask) for part in parts_of(operation)):
            comm._process.universe.note_unexplored(FILE_BUFFERS)
        if comm._process.buffer_checks is not None:
            request._buffer_use = comm._process.buffer_checks.of_file(operation, buf, writes=not write)
        return request

    def _begin(self, call: str, start: Callable[[str], Operation]) -> None:
        part = self._alive()
        if part.split is not None:
            self._split_error(f"{part.split[0]}_begin has been called without {part.split[0]}_end.")
        operation = start(f"{call}_begin")
        if part.comm._process.universe.recorder is not None:
            record_access(part.comm, operation, write=call.startswith("Write"))
        part.split = call, operation
        part.comm._process.universe.note_unexplored(FILE_BUFFERS)

    def _end(self, call: str, status: Status | None) -> None:
        part = self._alive()
        if part.split is None or part.split[0] != call:
            begun = "" if part.split is None else f"; {part.split[0]}_begin has"
            self._split_error(f"{call}_begin has not been called{begun}.")
        operation, part.split = part.split[1], None
        self._wait(operation, status)
