"""Requests: operations that have been started, and the many ways to wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe
from typing import Any, Literal

from fakempi.error_classes import ERR_REQUEST
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import UNDEFINED
from fakempi.mpi.base.identity import Handled, Identity
from fakempi.mpi.base.origin import Origin, noted
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import AllOf, error_of, parts_of, wait_all, wait_one
from fakempi.mpi.point import many
from fakempi.mpi.point.arrival import secure, taken_out
from fakempi.mpi.point.lower_case import StatusCalls
from fakempi.wire.envelope import Envelope, Pattern

Indexed = tuple[list[int] | None, list[Any] | None]
"""Which requests have ended, and what each received; None if none is active."""


class Request(StatusCalls, Handled):
    """An operation under way. Null (False) once it has been waited for; inactive requests count as ended."""

    __slots__ = (
        "__weakref__", "_buffer", "_cancelled", "_comm", "_identity", "_is_object", "_null", "_open", "_operation", "_pin",
    )  # fmt: skip

    _identity: Identity  # made when somebody asks who this is, which few do
    _open: Origin | None  # where it was made, if nobody has looked after it yet

    def __new__(cls, request: Request | None = None) -> Any:
        self = super().__new__(cls)
        self._set(None, None, None)
        self._null = True
        self._open = None
        if request is None:
            return self
        if not isinstance(request, Request):
            raise complaint(ERR_REQUEST, f"cannot make a {cls.__name__} of {request!r}.", MPITypeError)
        self._set(request._comm, request._operation, request._buffer)
        self._pin = request._pin
        self._is_object, self._null, self._cancelled = request._is_object, request._null, request._cancelled
        if request:
            self._identity = request._stands_for()
            request._close()  # whichever of the two is waited for
        return self

    @classmethod
    def _of(cls, comm: Any, operation: Any, buffer: Any = None, is_object: bool = False) -> Request:
        self = object.__new__(cls)
        self._comm, self._operation, self._buffer = comm, operation, buffer
        self._is_object, self._null, self._cancelled, self._open, self._pin = is_object, False, False, None, None
        notes = comm._notes
        if notes is not None and operation is not None:
            frame = _getframe(2)  # the program's, in most cases
            origin = notes.get((id(frame.f_code), frame.f_lasti)) or noted(notes)
            origin.open += 1
            operation.origin = self._open = origin
            if buffer is not None and not is_object and (pins := comm._pins) is not None:
                self._pin = pins.of(operation, buffer)
        return self

    @classmethod
    def _of_both(cls, comm: Any, first: Any, second: Any, buffer: Any) -> Request:
        self = cls._of(comm, AllOf((first, second)), buffer)
        first.origin = second.origin = self._open
        return self

    def _set(self, comm: Any, operation: Any, buffer: Any) -> None:
        self._comm = comm
        self._operation: Any = operation
        self._buffer = buffer  # kept alive while the operation is under way
        self._pin: Any = None  # what of it is in use until then, if that is watched
        self._is_object = self._null = self._cancelled = False

    # -- one ------------------------------------------------------------------------------------------------------

    def Wait(self, status: Status | None = None) -> Literal[True]:
        """Wait until the operation has ended."""
        if self._operation is not None:
            self._check_owner()
            wait_one(self._comm._loop, self._operation)
        self._finish(status)
        return True

    def Test(self, status: Status | None = None) -> bool:
        """Whether the operation has ended; if not, other ranks run before this returns."""
        if self._operation is not None:
            self._check_owner()
        if not many.tested(self._has_ended, (self,)):
            return False
        self._finish(status)
        return True

    def Get_status(self, status: Status | None = None) -> bool:
        """Like Test, but the request stays as it is."""
        if not many.tested(self._has_ended, (self,)):
            return False
        self._look(status)
        return True

    def wait(self, status: Status | None = None) -> Any:
        """Wait, and return the object that was received (None after a send)."""
        if self._operation is not None:
            self._check_owner()
            wait_one(self._comm._loop, self._operation)
        return self._finish(status)

    def test(self, status: Status | None = None) -> tuple[bool, Any | None]:
        """(True, the object received) if it has ended, else (False, None)."""
        if self._operation is not None:
            self._check_owner()
        if not many.tested(self._has_ended, (self,)):
            return False, None
        return True, self._finish(status)

    # -- any ------------------------------------------------------------------------------------------------------

    @classmethod
    def Waitany(cls, requests: Sequence[Request], status: Status | None = None) -> int:
        """Wait until one has ended, and return its index (UNDEFINED if none is active)."""
        return cls.waitany(requests, status)[0]

    @classmethod
    def Testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """(index, True) if one has ended, (UNDEFINED, True) if none is active, else (UNDEFINED, False)."""
        return cls.testany(requests, status)[:2]

    @classmethod
    def Get_status_any(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Like Testany, but the request stays as it is."""
        index, flag = many.look_for_any(requests)
        if index != UNDEFINED:
            requests[index]._look(status)
        elif flag:
            many.fill_empty(status)
        return index, flag

    @classmethod
    def waitany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, Any]:
        """Wait until one has ended, and return its index and what it received."""
        active = many.active_of(requests)
        if not active:
            many.fill_empty(status)
            return UNDEFINED, None
        index = many.await_any(requests, active)
        return index, requests[index]._finish(status)

    @classmethod
    def testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool, Any | None]:
        """Like Testany, with what it received."""
        index, flag = many.look_for_any(requests)
        if index == UNDEFINED:
            if flag:
                many.fill_empty(status)
            return index, flag, None
        return index, True, requests[index]._finish(status)

    # -- all ------------------------------------------------------------------------------------------------------

    @classmethod
    def Waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> Literal[True]:
        """Wait until all have ended."""
        cls.waitall(requests, statuses)
        return True

    @classmethod
    def Testall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Whether all have ended."""
        return cls.testall(requests, statuses)[0]

    @classmethod
    def Get_status_all(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Like Testall, but the requests stay as they are."""
        if not many.tested(lambda: many.all_ended(requests), requests):
            return False
        for request, status in zip(requests, many.room_for(statuses, len(requests)), strict=False):
            request._look(status)
        return True

    @classmethod
    def waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[Any]:
        """Wait until all have ended, and return what they received."""
        active = many.active_of(requests)
        if active:
            wait_all(active[0]._comm._loop, [request._operation for request in active])
        return many.finish_all(requests, range(len(requests)), statuses)

    @classmethod
    def testall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> tuple[bool, list[Any] | None]:
        """(True, what they received) if all have ended, else (False, None)."""
        if not many.tested(lambda: many.all_ended(requests), requests):
            return False, None
        return True, many.finish_all(requests, range(len(requests)), statuses)

    # -- some -----------------------------------------------------------------------------------------------------

    @classmethod
    def Waitsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Wait until at least one has ended, and return the indices of all that have (None if none is active)."""
        return cls.waitsome(requests, statuses)[0]

    @classmethod
    def Testsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """The indices of all that have ended (None if none is active)."""
        return cls.testsome(requests, statuses)[0]

    @classmethod
    def Get_status_some(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Like Testsome, but the requests stay as they are."""
        indices = many.look_for_some(requests)
        if indices:
            for index, status in zip(indices, many.room_for(statuses, len(indices)), strict=False):
                requests[index]._look(status)
        return indices

    @classmethod
    def waitsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> Indexed:
        """Like Waitsome, with what they received."""
        active = many.active_of(requests)
        if not active:
            return None, None
        indices = many.await_some(requests, active)
        return indices, many.finish_all(requests, indices, statuses)

    @classmethod
    def testsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> Indexed:
        """Like Testsome, with what they received."""
        indices = many.look_for_some(requests)
        return indices, None if indices is None else many.finish_all(requests, indices, statuses)

    # -- the rest -------------------------------------------------------------------------------------------------

    def Cancel(self) -> None:
        """Take back a receive, or a send, that has not been matched; otherwise nothing happens."""
        self._check_alive()
        operation = self._operation
        if operation is None:
            raise complaint(ERR_REQUEST, "the request is inactive: there is nothing to cancel.")
        if operation.__class__ in (Envelope, Pattern) and operation.end is None and operation.box.withdraw(operation):
            self._cancelled = True
            self._comm._process.universe.leaves_open("Cancel")
            self._close()
            operation.end = self._comm._loop.now
            if operation.waiter is not None:
                operation.waiter.settled(operation.end)

    def Free(self) -> None:
        """Forget the request; its operation goes on."""
        self._check_alive()
        if self._pin is not None:
            self._pin.drop()
        if self._open is not None:
            for part in parts_of(self._operation):
                part.origin = self._open.closed()
        self._close()
        self._set(self._comm, None, None)
        self._null = True

    def free(self) -> None:
        """As `Free`, but a null request is left in peace."""
        if not self._null:
            self.Free()

    def cancel(self) -> None:
        """The same as `Cancel`."""
        self.Cancel()

    def _stands_for(self) -> Any:
        if self._null:
            return None
        try:
            return self._identity
        except AttributeError:
            self._identity = Identity()
            return self._identity

    def __bool__(self) -> bool:
        return not self._null

    def __reduce__(self) -> Any:
        if self._null:
            return "REQUEST_NULL" if self is REQUEST_NULL else (type(self), ())
        raise complaint(ERR_REQUEST, "a Request cannot be pickled: it means nothing to another process.", MPIValueError)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _check_alive(self) -> None:
        if self._null:
            raise complaint(ERR_REQUEST, "the request is null: it was freed, or has been waited for.")

    def _check_owner(self) -> None:
        """Complain if it is another rank's: ranks share module globals here, which they do not on a real MPI."""
        comm = self._comm
        running = comm._loop.running
        if running is not None and running.owner is not comm._process:
            words = f"the request belongs to {comm._process.name}: was it kept in a global, which all ranks share?"
            raise complaint(ERR_REQUEST, words)

    def _has_ended(self) -> bool:
        operation = self._operation
        if operation is None:
            return True
        end = operation.end
        return end is not None and end <= self._comm._loop.now

    def _received(self) -> Any:
        """The half of the operation that receives, or None."""
        operation = self._operation
        if operation.__class__ is AllOf and operation.operations:
            operation = operation.operations[-1]
        return operation if operation.__class__ is Pattern or hasattr(operation, "envelope") else None

    def _fill(self, status: Status | None) -> None:
        """Tell a status how the operation ended, without ending the request."""
        if status is None:
            return
        if self._operation is None:
            many.fill_empty(status)
            return
        pattern = self._received()
        if pattern is not None and pattern.envelope is not None:
            pattern.told = True
            status._fill(pattern.envelope.source, pattern.envelope.tag, pattern.envelope.nbytes)
        else:
            many.fill_empty(status)
        status.Set_cancelled(self._cancelled)

    def _finish(self, status: Status | None) -> Any:
        """The operation has ended: fill the status, become null (or inactive), raise or return what came."""
        received, error = self._outcome(status)
        return received if error is None else self._comm._raise(error)

    def _outcome(self, status: Status | None) -> tuple[Any, MPIError | None]:
        """As `_finish`, but what went wrong is returned beside what came."""
        operation = self._operation
        if self._pin is not None:
            self._pin.end()
        if operation.__class__ is Envelope and status is None:  # most sends
            if operation.content is not None:
                secure(operation)
            self._retire()
            return None, None
        self._fill(status)
        if operation is None:
            return None, None
        pattern, is_object, place = self._received(), self._is_object, self._buffer
        self._secure()
        self._retire()
        if pattern is None:
            return getattr(operation, "result", None), getattr(operation, "error", None)
        if operation.__class__ is AllOf and (error := error_of(operation)) is not None:
            return None, error
        return taken_out(pattern, is_object, place, self._comm._process.pickle)

    def _secure(self) -> None:
        """The program may use its buffers from now on: if they hold what nobody has received yet, keep a copy."""
        for part in parts_of(self._operation):
            if part.__class__ is Envelope:
                secure(part)

    def _look(self, status: Status | None) -> None:
        """The operation has ended: say so, and leave the request as it is."""
        self._fill(status)
        self._secure()
        if self._pin is not None:
            self._pin.end()

    def _retire(self) -> None:
        """What is left when the operation has ended."""
        self._operation = self._buffer = None
        self._null = True
        if self._open is not None:  # `_close`, inlined
            self._open.open -= 1
            self._open = None

    def _close(self) -> None:
        """It has been looked after: waited for, tested to its end, cancelled or freed."""
        if self._open is not None:
            self._open.open -= 1
            self._open = None


REQUEST_NULL = Request()
