"""Futures in chains: what is to be done with a result when it is there, which is a future again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from fakempi.mpi4py.futures.tasks import CAUGHT
from fakempi.mpi4py.futures.util import give_up

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
    """A future for what a function makes of this one's result; if the function returns a future, for what comes of that.

    Parameters
    ----------
    on_success : is handed the result; None leaves it as it is
    on_failure : is handed the exception of the future, or of `on_success`, and returns another one, or a result
    """
    made = type(future)()
    chain: list[Future[Any]] = [made]
    future.add_done_callback(lambda done: _settle(chain, done, on_success, on_failure))
    return made


def catch(future: Future[Any], on_failure: Hook | None = None) -> Future[Any]:
    """As `then`, for exceptions alone; without a function, None takes an exception's place."""
    return then(future, None, on_failure or (lambda error: None))


def _settle(chain: list[Future[Any]], done: Future[Any], on_success: Hook | None, on_failure: Hook | None) -> None:
    """The first of a chain gets what comes of `done`; if that is a future, it is followed, and the chain is longer."""
    made = chain[0]
    if done.cancelled() or made.cancelled():
        give_up(made)
        return
    error = done.exception()
    found: Any = error
    try:
        if error is None:
            found = done.result()
            try:
                found = found if on_success is None else on_success(found)
            except CAUGHT as failure:
                error = found = failure
        if error is not None and on_failure is not None:
            found = on_failure(error)
        if isinstance(found, Future):
            _follow(chain, found)
            return
    except CAUGHT as failure:
        error = found = failure
    if error is not None and isinstance(found, BaseException):
        made.set_exception(found)
    else:
        made.set_result(found)


def _follow(chain: list[Future[Any]], future: Future[Any]) -> None:
    if any(future is one for one in chain):
        raise RuntimeError(f"chain cycle detected: {future} comes of itself, after {len(chain)} futures.")
    chain.append(future)
    future.add_done_callback(lambda done: _settle(chain, done, None, None))
