"""Functions on lists of requests: the active ones, the completed ones, and their results.

They take any object of the protocol `Pending`, since the module of `Request` imports this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.errors import MPIError, MPITypeError
from fakempi.errors.classes import ERR_ARG, ERR_IN_STATUS, ERR_REQUEST, SUCCESS
from fakempi.mpi.base.constants import UNDEFINED
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.mpi_errors import mpi_error, shown
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.status import Status, check_status
from fakempi.mpi.base.waiting import wait_any
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.interfaces.services import ChoicePoints
from fakempi.mpi.point.owners import Pending

Indexed = tuple[list[int] | None, list[Any] | None]
"""The indices of completed requests, and the object that each has received; None if no request is active."""


def let_others_run(loop: Loop, reason: object, *ends: Time | None) -> None:
    """Let other ranks run after an unsuccessful poll for `reason`. The next known end is added to the agenda, so that
    time advances."""
    later = [end for end in ends if end is not None and end > loop.now]
    if later:
        loop.call_at(min(later), _do_nothing)
    task: Task = loop.running  # type: ignore[assignment]  # a rank runs, because it calls
    task.reason, task.since = reason, loop.now  # for reports of livelocks
    loop.poll()
    task.reason = None


def after_a_poll(poll: Callable[[], object], requests: Sequence[Pending], *how: str) -> bool:
    """Let other ranks run after an unsuccessful test, then test again. `how` is "any" if one completed request is enough."""
    operations = operations_of(active_of(requests))
    let_others_run(running_process().loop, (*how, *operations), *(operation.end for operation in operations))
    return bool(poll())


def _do_nothing() -> None:
    """Occupy an entry of the agenda."""


def tested(poll: Callable[[], object], requests: Sequence[Pending], *, keeps: bool) -> bool:
    """Whether a test succeeds, now or after other ranks have run. `keeps`: Get_status does not change the requests."""
    choices = running_process().universe.choices
    if choices is not None:
        return not active_of(requests) or choices.completed(requests, "all", polls=True, keeps=keeps) is not None
    return bool(poll()) or after_a_poll(poll, requests)


def await_any(requests: Sequence[Pending], active: Sequence[Pending]) -> int:
    """Wait until a request is complete, and return its index."""
    choices = active[0]._comm._process.universe.choices
    if choices is not None:
        return _decided(choices, requests, "any")[0]
    with wait_region(active[0]._comm._process, "waitany"):
        wait_any(active[0]._comm._loop, operations_of(active))
    return first_ended(requests)


def await_some(requests: Sequence[Pending], active: Sequence[Pending]) -> list[int]:
    """Wait until at least one request is complete, and return the indices of all that are."""
    choices = active[0]._comm._process.universe.choices
    if choices is not None:
        return _decided(choices, requests, "some")
    with wait_region(active[0]._comm._process, "waitany"):
        wait_any(active[0]._comm._loop, operations_of(active))
    return ended_indices(requests)


def _decided(choices: ChoicePoints, requests: Sequence[Pending], how: str) -> list[int]:
    """Return the indices of completed requests that a blocking call returns, as the model checker decides."""
    return list(choices.completed(requests, how, polls=False, keeps=False) or ())


def active_of(requests: Sequence[Pending]) -> list[Pending]:
    """Return the active requests."""
    try:
        active = [request for request in requests if request._operation is not None]
    except (AttributeError, TypeError):
        raise mpi_error(ERR_REQUEST, f"expecting a sequence of requests, not {requests!r}.", MPITypeError) from None
    for request in active:
        request._check_owner()
    return active


def operations_of(requests: Sequence[Pending]) -> list[Operation]:
    """Return the operations of the active requests."""
    return [operation for request in requests if (operation := request._operation) is not None]


def all_ended(requests: Sequence[Pending]) -> bool:
    """Whether all requests are complete or inactive."""
    return all(request._has_ended() for request in active_of(requests))


def ended_indices(requests: Sequence[Pending]) -> list[int]:
    """Return the indices of the active requests that are complete."""
    return [i for i, request in enumerate(requests) if request._operation is not None and request._has_ended()]


def first_ended(requests: Sequence[Pending]) -> int:
    """Return the index of the active request that ended first; of several, the first in the list."""
    return min(ended_indices(requests), key=lambda i: requests[i]._operation.end)  # type: ignore[union-attr, return-value, arg-type]  # requests that have ended have an end


def test_any(requests: Sequence[Pending], *, keeps: bool) -> tuple[int, bool]:
    """Return (index, True) of the first completed request, (UNDEFINED, True) if none is active, or (UNDEFINED, False).

    `keeps`: Get_status_any does not change the requests.
    """
    if not active_of(requests):
        return UNDEFINED, True
    choices = running_process().universe.choices
    if choices is not None:
        found = choices.completed(requests, "any", polls=True, keeps=keeps)
        return (UNDEFINED, False) if found is None else (found[0], True)
    if not ended_indices(requests) and not after_a_poll(lambda: ended_indices(requests), requests, "any"):
        return UNDEFINED, False
    return first_ended(requests), True


def test_some(requests: Sequence[Pending], *, keeps: bool) -> list[int] | None:
    """Return the indices of the completed requests, None if no request is active. `keeps` as for `test_any`."""
    if not active_of(requests):
        return None
    choices = running_process().universe.choices
    if choices is not None:
        return list(choices.completed(requests, "some", polls=True, keeps=keeps) or ())
    if not ended_indices(requests):
        after_a_poll(lambda: None, requests, "any")
    return ended_indices(requests)


def status_list(statuses: Sequence[Status] | None, count: int) -> list[Status | None]:
    """Return `count` statuses of the program. A list that is too short is extended; otherwise missing ones are None."""
    if statuses is None:
        return [None] * count
    if not isinstance(statuses, Iterable):
        raise mpi_error(ERR_ARG, f"statuses is {shown(statuses)}, not a list of Status.", MPITypeError)
    if isinstance(statuses, list):
        statuses.extend(Status() for _ in range(count - len(statuses)))
    return [*statuses, *([None] * (count - len(statuses)))]


def finish_all(requests: Sequence[Pending], indices: Sequence[int], statuses: list[Status] | None) -> list[Any]:
    """Finish requests, and return the received objects. If some failed, set the errors of the statuses, and raise one."""
    filled = status_list(statuses, len(indices))
    received: list[object] = []
    errors: dict[int, MPIError] = {}
    for index, status in zip(indices, filled, strict=False):
        value, error = requests[index]._outcome(status)
        received.append(value)
        if error is not None:
            errors[index] = error
    if errors:
        for index, status in zip(indices, filled, strict=False):
            if status is not None:
                status.Set_error(errors[index].Get_error_code() if index in errors else SUCCESS)
        first, error = next(iter(errors.items()))
        why = str(error).partition(": ")[2] or str(error)
        side = getattr(requests[first]._comm, "_side", None)
        if side is not None and side.original is not None:  # a collective context, which the program does not know
            raise mpi_error(error.ierr, why)
        sentence = f"{len(errors)} of {len(indices)} requests failed, the first of them at index {first}: {why}"
        requests[first]._comm._raise(mpi_error(ERR_IN_STATUS, sentence))
    return received


def fill_empty(status: Status | None) -> None:
    """Fill a status, if there is one, as MPI defines for no active request."""
    if status is not None:
        check_status(status)
        status._fill_empty()
