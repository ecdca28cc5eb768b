"""Chained futures, with `then` and `catch`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from fakempi.isolation.mpi4py.futures.tasks import TASK_ERRORS
from fakempi.isolation.mpi4py.futures.util import cancel_and_notify

Hook = Callable[[Any], Any]


class ThenableFuture(Future[Any]):
    """A future with `then` and `catch`."""

    def then(self, on_success: Hook | None = None, on_failure: Hook | None = None) -> Future[Any]:
        """See the function `then`."""
        return then(self, on_success, on_failure)

    def catch(self, on_failure: Hook | None = None) -> Future[Any]:
        """See the function `catch`."""
        return catch(self, on_failure)


def then(future: Future[Any], on_success: Hook | None = None, on_failure: Hook | None = None) -> Future[Any]:
    """Return a future for a function of the result; if the function returns a future, for the result of that.

    Parameters
    ----------
    on_success : function of the result; None passes the result on
    on_failure : function of the exception of the future or of `on_success` that returns an exception or a result
    """
    derived = type(future)()
    chain: list[Future[Any]] = [derived]
    future.add_done_callback(lambda done: _complete(chain, done, on_success, on_failure))
    return derived


def catch(future: Future[Any], on_failure: Hook | None = None) -> Future[Any]:
    """Return `then(future, None, on_failure)`; without a function, None replaces an exception."""
    return then(future, None, on_failure or (lambda error: None))


def _complete(chain: list[Future[Any]], done: Future[Any], on_success: Hook | None, on_failure: Hook | None) -> None:
    """Complete the first future of a chain from `done`; if the result is a future, append it to the chain."""
    derived = chain[0]
    if done.cancelled() or derived.cancelled():
        cancel_and_notify(derived)
        return
    error = done.exception()
    result: Any = error
    try:
        if error is None:
            result = done.result()
            try:
                result = result if on_success is None else on_success(result)
            except TASK_ERRORS as failure:
                error = result = failure
        if error is not None and on_failure is not None:
            result = on_failure(error)
        if isinstance(result, Future):
            _follow(chain, result)
            return
    except TASK_ERRORS as failure:
        error = result = failure
    if error is not None and isinstance(result, BaseException):
        derived.set_exception(result)
    else:
        derived.set_result(result)


def _follow(chain: list[Future[Any]], future: Future[Any]) -> None:
    if any(future is earlier for earlier in chain):
        raise RuntimeError(f"chain cycle detected: {future} depends on itself after {len(chain)} futures.")
    chain.append(future)
    future.add_done_callback(lambda done: _complete(chain, done, None, None))
