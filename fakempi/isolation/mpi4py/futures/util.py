"""`collect` and `compose`: futures that depend on other futures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

from fakempi.isolation.mpi4py.futures.tasks import TASK_ERRORS


def collect(fs: Iterable[Future[Any]]) -> Future[list[Any]]:
    """Return a future for the list of all results, in order.

    If one future fails or is canceled, the collected future fails or is canceled, and the others are canceled. Canceling the
    collected future cancels all.
    """
    futures = list(fs)
    collected: Future[list[Any]] = type(futures[0])() if futures else Future()
    pending = len(futures)

    def complete(done: Future[Any]) -> None:
        nonlocal pending
        pending -= 1
        if collected.done():
            return
        if done.cancelled():
            cancel_and_notify(collected)
        elif done.exception() is not None:
            collected.set_exception(done.exception())
        elif pending == 0:
            collected.set_result([future.result() for future in futures])

    def cancel_others(_: Any) -> None:
        for future in futures:
            if not future.done():
                future.cancel()

    collected.add_done_callback(cancel_others)
    for future in futures:
        future.add_done_callback(complete)
    if not futures:
        collected.set_result([])
    return collected


def compose(
    future: Future[Any],
    resulthook: Callable[[Any], Any] | None = None,
    excepthook: Callable[[BaseException], Any] | None = None,
) -> Future[Any]:
    """Return a future for a function of the result of a future. Canceling one of the two cancels the other.

    Parameters
    ----------
    resulthook : function of the result; None passes the result on
    excepthook : function of the exception that returns an exception or a result; None passes the exception on
    """
    derived = type(future)()

    def complete(done: Future[Any]) -> None:
        if done.cancelled():
            cancel_and_notify(derived)
        elif derived.set_running_or_notify_cancel():
            set_from_hook(derived, done, resulthook, excepthook)

    def cancel(_: Any) -> None:
        if derived.cancelled():
            future.cancel()

    derived.add_done_callback(cancel)
    future.add_done_callback(complete)
    return derived


def set_from_hook(
    derived: Future[Any], done: Future[Any], resulthook: Callable[[Any], Any] | None, excepthook: Callable[..., Any] | None
) -> None:
    """Complete a future with a function of the result or exception of another one."""
    error = done.exception()
    hook = resulthook if error is None else excepthook
    try:
        result = done.result() if error is None else error
        if hook is not None:
            result = hook(result)
    except TASK_ERRORS as failure:
        derived.set_exception(failure)
        return
    if error is not None and isinstance(result, BaseException):
        derived.set_exception(result)
    else:
        derived.set_result(result)


def cancel_and_notify(future: Future[Any]) -> None:
    """Cancel a future that no executor runs, and notify its waiters."""
    if future.cancel():
        future.set_running_or_notify_cancel()
