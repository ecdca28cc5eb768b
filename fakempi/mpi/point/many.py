"""Looking at many requests at once: which have something to wait for, which have ended, and how it went with them.

What is handed in are requests, which know these functions; the functions know nothing of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fakempi.error_classes import ERR_IN_STATUS, ERR_REQUEST, SUCCESS
from fakempi.errors import MPIError, MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import UNDEFINED
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import wait_any


def let_others_run(loop: Any, what: Any, *ends: Any) -> None:
    """A poll for `what` has found nothing. What is known to end later is booked: time must not stand still for it."""
    later = [end for end in ends if end is not None and end > loop.now]
    if later:
        loop.book(min(later), _time_passes)
    task = loop.running
    task.reason, task.since = what, loop.now  # for whoever asks why nothing moves
    loop.poll()
    task.reason = None


def after_a_poll(found: Callable[[], Any], requests: Sequence[Any], *how: str) -> bool:
    """Nothing was found: let others run, then look once more. `how` is "any" if one of the requests will do."""
    operations = [request._operation for request in active_of(requests)]
    let_others_run(running_process().loop, (*how, *operations), *(operation.end for operation in operations))
    return bool(found())


def _time_passes() -> None:
    """That is all."""


def tested(found: Callable[[], Any], requests: Sequence[Any]) -> bool:
    """Whether all that is asked for has ended: now, or after others have run."""
    choices = running_process().universe.choices
    if choices is not None:
        return bool(choices.tested(requests))
    return bool(found()) or after_a_poll(found, requests)


def await_any(requests: Sequence[Any], active: Sequence[Any]) -> int:
    """Wait until one has ended: its index."""
    choices = active[0]._comm._process.universe.choices
    if choices is not None:
        return int(choices.any_of(requests, polls=False))
    wait_any(active[0]._comm._loop, [request._operation for request in active])
    return first_ended(requests)


def await_some(requests: Sequence[Any], active: Sequence[Any]) -> list[int]:
    """Wait until at least one has ended: the indices of those that have."""
    choices = active[0]._comm._process.universe.choices
    if choices is not None:
        return list(choices.some_of(requests, polls=False))
    wait_any(active[0]._comm._loop, [request._operation for request in active])
    return those_ended(requests)


def active_of(requests: Sequence[Any]) -> list[Any]:
    """Those of the requests that have something to wait for."""
    try:
        active = [request for request in requests if request._operation is not None]
    except (AttributeError, TypeError):
        raise complaint(ERR_REQUEST, f"expecting a sequence of requests, not {requests!r}.", MPITypeError) from None
    for request in active:
        request._check_owner()
    return active


def all_ended(requests: Sequence[Any]) -> bool:
    """Whether none is left to wait for."""
    return all(request._has_ended() for request in active_of(requests))


def those_ended(requests: Sequence[Any]) -> list[int]:
    """Indices of the active requests that have ended."""
    return [i for i, request in enumerate(requests) if request._operation is not None and request._has_ended()]


def first_ended(requests: Sequence[Any]) -> int:
    """The active request that ended first; the first in the list of those that ended together."""
    return min(those_ended(requests), key=lambda i: requests[i]._operation.end)


def look_for_any(requests: Sequence[Any]) -> tuple[int, bool]:
    """(index, True) of the first to have ended, (UNDEFINED, True) if none is active, else (UNDEFINED, False)."""
    if not active_of(requests):
        return UNDEFINED, True
    choices = running_process().universe.choices
    if choices is not None:
        index = choices.any_of(requests, polls=True)
        return index, index != UNDEFINED
    if not those_ended(requests) and not after_a_poll(lambda: those_ended(requests), requests, "any"):
        return UNDEFINED, False
    return first_ended(requests), True


def look_for_some(requests: Sequence[Any]) -> list[int] | None:
    """The indices of those that have ended, None if none is active."""
    if not active_of(requests):
        return None
    choices = running_process().universe.choices
    if choices is not None:
        return list(choices.some_of(requests, polls=True))
    if not those_ended(requests):
        after_a_poll(lambda: None, requests, "any")
    return those_ended(requests)


def room_for(statuses: Sequence[Status] | None, count: int) -> list[Any]:
    """So many statuses: the program's, of which a list is made longer if need be; None for those that it lacks."""
    if statuses is None:
        return [None] * count
    if isinstance(statuses, list):
        statuses.extend(Status() for _ in range(count - len(statuses)))
    return [*statuses, *([None] * (count - len(statuses)))]


def finish_all(requests: Sequence[Any], indices: Sequence[int], statuses: list[Status] | None) -> list[Any]:
    """Finish several requests. If some went wrong, their statuses say which and how, and the error says so."""
    room = room_for(statuses, len(indices))
    received: list[Any] = []
    errors: dict[int, MPIError] = {}
    for index, status in zip(indices, room, strict=False):
        value, error = requests[index]._outcome(status)
        received.append(value)
        if error is not None:
            errors[index] = error
    if errors:
        for index, status in zip(indices, room, strict=False):
            if status is not None:
                status.Set_error(errors[index].Get_error_code() if index in errors else SUCCESS)
        first, error = next(iter(errors.items()))
        why = str(error).partition(": ")[2] or str(error)
        side = getattr(requests[first]._comm, "_side", None)
        if side is not None and side.original is not None:  # of ours, of which the program knows nothing
            raise complaint(error.ierr, why)
        words = f"{len(errors)} of {len(indices)} requests failed, the first of them at index {first}: {why}"
        requests[first]._comm._raise(complaint(ERR_IN_STATUS, words))
    return received


def fill_empty(status: Status | None) -> None:
    """Tell a status, if there is one, that there was nothing to wait for."""
    if status is not None:
        status._fill_empty()
