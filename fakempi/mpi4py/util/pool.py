"""`mpi4py.util.pool`: multiprocessing's Pool, on executors of `mpi4py.futures`."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from itertools import chain
from typing import Any, ClassVar

from fakempi.mpi4py.futures.executor import MPIPoolExecutor, ThreadPoolExecutor
from fakempi.mpi4py.futures.mapping import calls_of, chunks_of
from fakempi.mpi4py.futures.util import collect, compose

__all__ = ["ApplyResult", "AsyncResult", "MapResult", "Pool", "ThreadPool"]

Callback = Callable[[Any], Any]

PER_WORKER = 4
"""In how many chunks for each worker a map is cut, if nobody says how long they are: as multiprocessing does."""


class Pool:
    """Workers that make calls.

    Parameters
    ----------
    processes : how many workers; see `MPIPoolExecutor`
    initializer, initargs : what each worker calls first
    kwargs : for the executor. `maxtasksperchild` and `context` of multiprocessing are warned of, and change nothing
    """

    Executor: ClassVar[Callable[..., Any]] = MPIPoolExecutor
    executor: Any

    def __init__(
        self,
        processes: int | None = None,
        initializer: Callable[..., Any] | None = None,
        initargs: Iterable[Any] = (),
        **kwargs: Any,
    ) -> None:
        if processes is not None and processes < 1:
            raise ValueError(f"processes is {processes}; there must be at least 1.")
        if initializer is not None and not callable(initializer):
            raise TypeError(f"initializer is {initializer!r}, which cannot be called.")
        for name in ("maxtasksperchild", "context"):
            if kwargs.pop(name, None) is not None:
                warnings.warn(f"Pool: {name} changes nothing here.", stacklevel=2)
        self.executor = type(self).Executor(processes, initializer=initializer, initargs=initargs, **kwargs)

    def apply(self, func: Callable[..., Any], args: Iterable[Any] = (), kwds: Mapping[str, Any] | None = None) -> Any:
        """Make a call, and wait for its result."""
        return self.executor.submit(func, *args, **kwds or {}).result()

    def apply_async(
        self,
        func: Callable[..., Any],
        args: Iterable[Any] = (),
        kwds: Mapping[str, Any] | None = None,
        callback: Callback | None = None,
        error_callback: Callback | None = None,
    ) -> ApplyResult:
        """Make a call; one of the callbacks is handed its result or its exception."""
        return ApplyResult(self.executor.submit(func, *args, **kwds or {}), callback, error_callback)

    def map(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int | None = None) -> list[Any]:
        """A call for each item, and a list of their results."""
        return self.starmap(func, zip(iterable), chunksize)

    def map_async(
        self,
        func: Callable[..., Any],
        iterable: Iterable[Any],
        chunksize: int | None = None,
        callback: Callback | None = None,
        error_callback: Callback | None = None,
    ) -> MapResult:
        """A call for each item; one of the callbacks is handed the list of their results, or an exception."""
        return self.starmap_async(func, zip(iterable), chunksize, callback, error_callback)

    def imap(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int = 1) -> Iterator[Any]:
        """A call for each item; yields their results in order."""
        found: Iterator[Any] = self.executor.map(func, iterable, chunksize=chunksize)
        return found

    def imap_unordered(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int = 1) -> Iterator[Any]:
        """A call for each item; yields their results as they come."""
        found: Iterator[Any] = self.executor.map(func, iterable, chunksize=chunksize, unordered=True)
        return found

    def starmap(
        self, func: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: int | None = None
    ) -> list[Any]:
        """A call for each item, which has all arguments, and a list of their results."""
        items, chunksize = self._cut(iterable, chunksize)
        return list(self.istarmap(func, items, chunksize))

    def starmap_async(
        self,
        func: Callable[..., Any],
        iterable: Iterable[Iterable[Any]],
        chunksize: int | None = None,
        callback: Callback | None = None,
        error_callback: Callback | None = None,
    ) -> MapResult:
        """A call for each item, which has all arguments; callbacks as for `map_async`."""
        items, chunksize = self._cut(iterable, chunksize)
        futures = [self.executor.submit(calls_of, func, chunk) for chunk in chunks_of(items, chunksize)]
        future = compose(collect(futures), lambda lists: list(chain.from_iterable(lists)))
        return MapResult(future, callback, error_callback)

    def istarmap(self, func: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: int = 1) -> Iterator[Any]:
        """A call for each item, which has all arguments; yields their results in order."""
        found: Iterator[Any] = self.executor.starmap(func, iterable, chunksize=chunksize)
        return found

    def istarmap_unordered(
        self, func: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: int = 1
    ) -> Iterator[Any]:
        """A call for each item, which has all arguments; yields their results as they come."""
        found: Iterator[Any] = self.executor.starmap(func, iterable, chunksize=chunksize, unordered=True)
        return found

    def close(self) -> None:
        """Take no more calls; those that are pending are made."""
        self.executor.shutdown(wait=False)

    def terminate(self) -> None:
        """Take no more calls; those that are pending are not made."""
        self.executor.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait until the workers are gone."""
        self.executor.shutdown(wait=True)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _cut(self, iterable: Iterable[Any], chunksize: int | None) -> tuple[Iterable[Any], int]:
        """All items, and how many are in a chunk."""
        if chunksize is not None:
            return iterable, chunksize
        items = list(iterable)
        return items, -(-len(items) // (PER_WORKER * self.executor._max_workers)) or 1


class ThreadPool(Pool):
    """Its workers are threads of this rank."""

    Executor = ThreadPoolExecutor


class AsyncResult:
    """A result that will be there."""

    def __init__(
        self, future: Future[Any], callback: Callback | None = None, error_callback: Callback | None = None
    ) -> None:
        self.future = future
        self._ready = threading.Event()
        self._callbacks = callback, error_callback
        future.add_done_callback(self._arrived)

    def _arrived(self, future: Future[Any]) -> None:
        callback, error_callback = self._callbacks
        try:
            error = TimeoutError() if future.cancelled() else future.exception()
            if error is None and callback is not None:
                callback(future.result())
            elif error is not None and error_callback is not None:
                error_callback(error)
        finally:
            self._ready.set()

    def get(self, timeout: float | None = None) -> Any:
        """The result, or the exception in its place; TimeoutError if it is not there in time, or never will be."""
        self.wait(timeout)
        if not self.ready():
            raise TimeoutError(f"no result after {timeout} seconds")
        try:
            return self.future.result()
        except CancelledError:
            raise TimeoutError("the pool was terminated before the call was made") from None

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it is there, or for some seconds."""
        self._ready.wait(timeout)

    def ready(self) -> bool:
        """Whether it is there."""
        return self._ready.is_set()

    def successful(self) -> bool:
        """Whether it is a result, and no exception; ValueError if it is not there."""
        if not self.ready():
            raise ValueError("the result is not ready")
        return not self.future.cancelled() and self.future.exception() is None


class ApplyResult(AsyncResult):
    """That of one call."""


class MapResult(AsyncResult):
    """That of many calls, as a list."""
