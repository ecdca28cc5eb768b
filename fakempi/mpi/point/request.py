"""Requests: operations that have been started, and the calls that wait for them or test them."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_OTHER, ERR_REQUEST
from fakempi.mpi.base.call_site import request_site
from fakempi.mpi.base.constants import UNDEFINED
from fakempi.mpi.base.current import OUTSIDE_THREAD
from fakempi.mpi.base.freed_requests import record_early_free
from fakempi.mpi.base.identity import Handled, Identity
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.status import Status, check_status
from fakempi.mpi.base.waiting import AllOf, error_of, parts_of, wait_all, wait_one
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.interfaces.records import CallSite
from fakempi.mpi.interfaces.services import Use
from fakempi.mpi.point import request_lists
from fakempi.mpi.point.arrival import copy_unreceived, receive_result
from fakempi.mpi.point.lower_case import StatusCalls
from fakempi.mpi.point.owners import RequestOwner

if TYPE_CHECKING:
    from typing_extensions import Self


class Request(StatusCalls, Handled["Request"]):
    """An operation in progress. The request is null (and False) after its completion; inactive requests are complete."""

    __slots__ = (
        "__weakref__", "_buffer", "_buffer_use", "_cancelled", "_comm", "_identity", "_is_object", "_null", "_observed",
        "_open_call_site", "_operation",
    )  # fmt: skip

    _identity: Identity  # created at its first use, since most requests do not need it
    _open_call_site: CallSite | None  # where it was made, until it is waited for, cancelled or freed

    def __new__(cls, request: Request | None = None) -> Self:
        self = super().__new__(cls)
        self._set(None, None, None)
        self._null = True
        self._open_call_site = None
        if request is None:
            return self
        if not isinstance(request, Request):
            raise mpi_error(ERR_REQUEST, f"cannot create a {cls.__name__} from {request!r}.", MPITypeError)
        self._set(request._comm, request._operation, request._buffer)
        self._buffer_use = request._buffer_use
        self._is_object, self._null, self._cancelled = request._is_object, request._null, request._cancelled
        if request:
            self._identity = request._mpi_object()  # type: ignore[assignment]  # it is not null
            request._close_call_site()  # the program may wait for either of the two
        return self

    @classmethod
    def _of(
        cls, comm: RequestOwner, operation: Operation | None, buffer: object = None, is_object: bool = False,
        caller: FrameType | None = None,
    ) -> Self:  # fmt: skip
        """Return a request for an operation; `caller` is the frame that called the public method, if known."""
        self = object.__new__(cls)
        self._comm, self._operation, self._buffer = comm, operation, buffer
        self._is_object, self._null, self._cancelled = is_object, False, False
        self._open_call_site = self._buffer_use = None
        call_sites = comm._call_sites
        if call_sites is not None and operation is not None:
            call_site = None if caller is None else call_sites.get((id(caller.f_code), caller.f_lasti))
            if call_site is None:
                call_site = request_site(call_sites)
            call_site.open += 1
            operation.call_site = self._open_call_site = call_site
            if buffer is not None and not is_object and (checks := comm._request_checks) is not None:
                self._buffer_use = checks.of(operation, buffer)
        return self

    @classmethod
    def _of_both(
        cls, comm: RequestOwner, first: Operation, second: Operation, buffer: object, caller: FrameType | None
    ) -> Self:  # fmt: skip
        self = cls._of(comm, AllOf((first, second)), buffer, False, caller)
        first.call_site = second.call_site = self._open_call_site  # type: ignore[assignment]  # None only if no call sites are recorded
        return self

    def _set(self, comm: RequestOwner | None, operation: Operation | None, buffer: object) -> None:
        self._comm: RequestOwner = comm  # type: ignore[assignment]  # None only if the request is null
        self._operation: Any = operation  # of any class with the attributes of `Operation`
        self._buffer = buffer  # kept alive while the operation is in progress
        self._buffer_use: Use | None = None  # checks the buffer until then, if the run checks buffers
        self._is_object = self._null = self._cancelled = False

    # -- one ------------------------------------------------------------------------------------------------------

    def Wait(self, status: Status | None = None) -> Literal[True]:
        """Wait until the operation is complete."""
        if self._operation is not None:
            self._check_owner()
            wait_one(self._comm._loop, self._operation)
        self._finish(status)
        return True

    def Test(self, status: Status | None = None) -> bool:
        """Return whether the operation is complete. If it is not, let other ranks run, and test again."""
        if self._operation is not None:
            self._check_owner()
        if not request_lists.tested(self._has_ended, (self,), keeps=False):
            return False
        self._finish(status)
        return True

    def Get_status(self, status: Status | None = None) -> bool:
        """Like Test, but do not change the request."""
        if not request_lists.tested(self._has_ended, (self,), keeps=True):
            return False
        self._report_status(status)
        return True

    def wait(self, status: Status | None = None) -> Any:
        """Wait, and return the object that was received (None after a send)."""
        if self._operation is not None:
            self._check_owner()
            wait_one(self._comm._loop, self._operation)
        return self._finish(status)

    def test(self, status: Status | None = None) -> tuple[bool, Any | None]:
        """Return (True, the received object) if the operation is complete, otherwise (False, None)."""
        if self._operation is not None:
            self._check_owner()
        if not request_lists.tested(self._has_ended, (self,), keeps=False):
            return False, None
        return True, self._finish(status)

    # -- any ------------------------------------------------------------------------------------------------------

    @classmethod
    def Waitany(cls, requests: Sequence[Request], status: Status | None = None) -> int:
        """Wait until a request is complete, and return its index (UNDEFINED if no request is active)."""
        return cls.waitany(requests, status)[0]

    @classmethod
    def Testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Return (index, True) of a complete request, (UNDEFINED, True) if no request is active, else (UNDEFINED, False)."""
        return cls.testany(requests, status)[:2]

    @classmethod
    def Get_status_any(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Like Testany, but do not change the request."""
        index, flag = request_lists.test_any(requests, keeps=True)
        if index != UNDEFINED:
            requests[index]._report_status(status)
        elif flag:
            request_lists.fill_empty(status)
        return index, flag

    @classmethod
    def waitany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, Any]:
        """Wait until a request is complete, and return its index and the received object."""
        active = request_lists.active_of(requests)
        if not active:
            request_lists.fill_empty(status)
            return UNDEFINED, None
        index = request_lists.await_any(requests, active)
        return index, requests[index]._finish(status)

    @classmethod
    def testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool, Any | None]:
        """Like Testany, with the received object."""
        index, flag = request_lists.test_any(requests, keeps=False)
        if index == UNDEFINED:
            if flag:
                request_lists.fill_empty(status)
            return index, flag, None
        return index, True, requests[index]._finish(status)

    # -- all ------------------------------------------------------------------------------------------------------

    @classmethod
    def Waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> Literal[True]:
        """Wait until all requests are complete."""
        cls.waitall(requests, statuses)
        return True

    @classmethod
    def Testall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Return whether all requests are complete."""
        return cls.testall(requests, statuses)[0]

    @classmethod
    def Get_status_all(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Like Testall, but do not change the requests."""
        if not request_lists.tested(lambda: request_lists.all_ended(requests), requests, keeps=True):
            return False
        for request, status in zip(requests, request_lists.status_list(statuses, len(requests)), strict=False):
            request._report_status(status)
        return True

    @classmethod
    def waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[Any]:
        """Wait until all requests are complete, and return the received objects."""
        active = request_lists.active_of(requests)
        if active:
            wait_all(active[0]._comm._loop, request_lists.operations_of(active))
        return request_lists.finish_all(requests, range(len(requests)), statuses)

    @classmethod
    def testall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> tuple[bool, list[Any] | None]:
        """Return (True, the received objects) if all requests are complete, otherwise (False, None)."""
        if not request_lists.tested(lambda: request_lists.all_ended(requests), requests, keeps=False):
            return False, None
        return True, request_lists.finish_all(requests, range(len(requests)), statuses)

    # -- some -----------------------------------------------------------------------------------------------------

    @classmethod
    def Waitsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Wait until a request is complete; return the indices of all complete requests (None if no request is active)."""
        return cls.waitsome(requests, statuses)[0]

    @classmethod
    def Testsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Return the indices of all complete requests (None if no request is active)."""
        return cls.testsome(requests, statuses)[0]

    @classmethod
    def Get_status_some(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Like Testsome, but do not change the requests."""
        indices = request_lists.test_some(requests, keeps=True)
        if indices:
            for index, status in zip(indices, request_lists.status_list(statuses, len(indices)), strict=False):
                requests[index]._report_status(status)
        return indices

    @classmethod
    def waitsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> request_lists.Indexed:
        """Like Waitsome, with the received objects."""
        active = request_lists.active_of(requests)
        if not active:
            return None, None
        indices = request_lists.await_some(requests, active)
        return indices, request_lists.finish_all(requests, indices, statuses)

    @classmethod
    def testsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> request_lists.Indexed:
        """Like Testsome, with the received objects."""
        indices = request_lists.test_some(requests, keeps=False)
        return indices, None if indices is None else request_lists.finish_all(requests, indices, statuses)

    # -- others ---------------------------------------------------------------------------------------------------

    def Cancel(self) -> None:
        """Cancel a send or a receive that has not been matched; otherwise do nothing."""
        self._check_alive()
        if (operation := self._operation) is None:
            raise mpi_error(ERR_REQUEST, "the request is inactive: there is nothing to cancel.")
        self._comm._process.network.finish()  # so that a message that was sent at this time is in its mailbox
        if operation.__class__ in (Envelope, PostedReceive) and operation.end is None and operation.box.withdraw(operation):
            self._cancelled = True
            self._comm._process.universe.note_unexplored("Cancel")
            self._close_call_site()
            operation.end = self._comm._loop.now
            if operation.waiter is not None:
                operation.waiter.settled(operation.end)

    def Free(self) -> None:
        """Free the request; its operation continues."""
        self._check_alive()
        if self._buffer_use is not None:
            self._buffer_use.drop()
        if self._open_call_site is not None:
            if getattr(self, "_observed", None) is not self._operation:
                record_early_free(self._comm._process, self._operation, self._open_call_site)
            for part in parts_of(self._operation):
                part.call_site = self._open_call_site.closed()
        self._close_call_site()
        self._set(self._comm, None, None)
        self._null = True

    def _mpi_object(self) -> Identity | None:
        if self._null:
            return None
        if not hasattr(self, "_identity"):
            self._identity = Identity()
        return self._identity

    def __bool__(self) -> bool:
        return not self._null

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._null:
            return "REQUEST_NULL" if self is REQUEST_NULL else (type(self), ())
        raise mpi_error(ERR_REQUEST, "a Request cannot be pickled: it is only valid in this process.", MPIValueError)

    # -- private --------------------------------------------------------------------------------------------------

    def _check_alive(self) -> None:
        if self._null:
            raise mpi_error(ERR_REQUEST, "the request is null: it was freed, or has been waited for.")

    def _check_owner(self) -> None:
        """Raise an error if the request belongs to another rank: ranks share module globals, unlike processes of an MPI."""
        comm, running = self._comm, self._comm._loop.running
        if running is None and not comm._loop.ending:
            raise mpi_error(ERR_OTHER, OUTSIDE_THREAD)
        if running is None or running.acts_for is comm._process:
            return
        comm._loop.check_caller(running)
        if running.owner is not comm._process:
            sentence = f"the request belongs to {comm._process.name}: store it in a local variable, not in a global one."
            raise mpi_error(ERR_REQUEST, sentence)

    def _has_ended(self) -> bool:
        operation = self._operation
        if operation is None:
            return True
        end = operation.end
        return end is not None and end <= self._comm._loop.now

    def _receive_of(self) -> Any:
        """The receive of the operation, or None if it has none."""
        operation = self._operation
        if operation.__class__ is AllOf and operation.operations:
            operation = operation.operations[-1]
        return operation if operation.__class__ is PostedReceive or hasattr(operation, "envelope") else None

    def _fill(self, status: Status | None) -> None:
        """Fill a status with the result of the operation."""
        if status is None:
            return
        check_status(status)
        if self._operation is None:
            return request_lists.fill_empty(status)
        receive = self._receive_of()
        if receive is not None and receive.envelope is not None:
            receive.observed = True
            status._fill(receive.envelope.source, receive.envelope.tag, receive.envelope.nbytes)
        else:
            request_lists.fill_empty(status)
        status.Set_cancelled(self._cancelled)

    def _finish(self, status: Status | None) -> object:
        """Finish a completed operation: fill the status, become null or inactive, return the object or raise the error."""
        received, error = self._outcome(status)
        return received if error is None else self._comm._raise(error)

    def _outcome(self, status: Status | None) -> tuple[object, MPIError | None]:
        """Like `_finish`, but return the object and the error."""
        operation = self._operation
        if self._buffer_use is not None:
            self._buffer_use.end()
        if operation.__class__ is Envelope and status is None:  # the common case of a send
            if operation.payload is not None:
                copy_unreceived(operation)
            self._retire()
            return None, None
        self._fill(status)
        if operation is None:
            return None, None
        receive, is_object, target = self._receive_of(), self._is_object, self._buffer
        self._copy_unreceived()
        self._retire()
        if receive is None:
            return getattr(operation, "result", None), getattr(operation, "error", None)
        if operation.__class__ is AllOf and (error := error_of(operation)) is not None:
            return None, error
        return receive_result(receive, is_object, target, self._comm._process.pickle)  # type: ignore[arg-type]  # the target is the buffer of a receive

    def _copy_unreceived(self) -> None:
        """Copy the payloads that have not been received, since the program may use its buffers from now on."""
        for part in parts_of(self._operation):
            if part.__class__ is Envelope:
                copy_unreceived(part)

    def _report_status(self, status: Status | None) -> None:
        """Fill the status of a completed operation, and do not change the request."""
        self._fill(status)
        self._copy_unreceived()
        self._observed = self._operation  # the program knows that this operation is complete
        if self._buffer_use is not None:
            self._buffer_use.end()

    def _retire(self) -> None:
        """Become null (a persistent request: inactive) after the operation is complete."""
        self._operation = self._buffer = None
        self._null = True
        if self._open_call_site is not None:  # `_close_call_site`, inlined
            self._open_call_site.open -= 1
            self._open_call_site = None

    def _close_call_site(self) -> None:
        """Record that the program has completed, cancelled or freed the request."""
        if self._open_call_site is not None:
            self._open_call_site.open -= 1
            self._open_call_site = None


REQUEST_NULL = Request()
