"""`collect` and `compose`: futures made of futures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

from fakempi.mpi4py.futures.tasks import CAUGHT


def collect(fs: Iterable[Future[Any]]) -> Future[list[Any]]:
    """A future for the results of all of these, in order.

    If one of them fails or is cancelled, so does or is this, and the others are cancelled; if this is cancelled, all are.
    """
    futures = list(fs)
    whole: Future[list[Any]] = type(futures[0])() if futures else Future()
    left = len(futures)

    def settle(one: Future[Any]) -> None:
        nonlocal left
        left -= 1
        if whole.done():
            return
        if one.cancelled():
            give_up(whole)
        elif one.exception() is not None:
            whole.set_exception(one.exception())
        elif left == 0:
            whole.set_result([future.result() for future in futures])

    def cancel_others(_: Any) -> None:
        for future in futures:
            if not future.done():
                future.cancel()

    whole.add_done_callback(cancel_others)
    for future in futures:
        future.add_done_callback(settle)
    if not futures:
        whole.set_result([])
    return whole


def compose(
    future: Future[Any],
    resulthook: Callable[[Any], Any] | None = None,
    excepthook: Callable[[BaseException], Any] | None = None,
) -> Future[Any]:
    """A future for what a function makes of this one's result. If one of the two is cancelled, so is the other.

    Parameters
    ----------
    resulthook : is handed the result; None leaves it as it is
    excepthook : is handed the exception, and returns another one, or a result; None leaves it as it is
    """
    made = type(future)()

    def settle(one: Future[Any]) -> None:
        if one.cancelled():
            give_up(made)
        elif made.set_running_or_notify_cancel():
            settle_by(made, one, resulthook, excepthook)

    def cancel(_: Any) -> None:
        if made.cancelled():
            future.cancel()

    made.add_done_callback(cancel)
    future.add_done_callback(settle)
    return made


def settle_by(
    made: Future[Any], done: Future[Any], resulthook: Callable[[Any], Any] | None, excepthook: Callable[..., Any] | None
) -> None:
    """Give a future what a function makes of the result, or of the exception, of one that is done."""
    error = done.exception()
    hook = resulthook if error is None else excepthook
    try:
        found = done.result() if error is None else error
        if hook is not None:
            found = hook(found)
    except CAUGHT as failure:
        made.set_exception(failure)
        return
    if error is not None and isinstance(found, BaseException):
        made.set_exception(found)
    else:
        made.set_result(found)


def give_up(future: Future[Any]) -> None:
    """Cancel one that nobody executes, and tell those who wait for it."""
    if future.cancel():
        future.set_running_or_notify_cancel()
