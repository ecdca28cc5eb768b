"""`mpi4py.util.pool`: multiprocessing's Pool, on executors of `mpi4py.futures`."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from itertools import chain
from typing import Any, ClassVar

from fakempi.isolation.mpi4py.futures.executor import MPIPoolExecutor, ThreadPoolExecutor
from fakempi.isolation.mpi4py.futures.mapping import calls_of, chunks_of
from fakempi.isolation.mpi4py.futures.util import collect, compose

__all__ = ["ApplyResult", "AsyncResult", "MapResult", "Pool", "ThreadPool"]

Callback = Callable[[Any], Any]

PER_WORKER = 4
"""Default number of chunks per worker in a map, as in multiprocessing."""


class Pool:
    """A pool of workers.

    Parameters
    ----------
    processes : number of workers; see `MPIPoolExecutor`
    initializer, initargs : a function that each worker calls first, and its arguments
    kwargs : options of the executor. `maxtasksperchild` and `context` of multiprocessing have no effect but a warning
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
            raise ValueError(f"processes is {processes}; it must be at least 1.")
        if initializer is not None and not callable(initializer):
            raise TypeError(f"initializer is {initializer!r}, which is not callable.")
        for name in ("maxtasksperchild", "context"):
            if kwargs.pop(name, None) is not None:
                warnings.warn(f"Pool: {name} has no effect.", stacklevel=2)
        self.executor = type(self).Executor(processes, initializer=initializer, initargs=initargs, **kwargs)

    def apply(self, func: Callable[..., Any], args: Iterable[Any] = (), kwds: Mapping[str, Any] | None = None) -> Any:
        """Submit a call and return its result."""
        return self.executor.submit(func, *args, **kwds or {}).result()

    def apply_async(
        self,
        func: Callable[..., Any],
        args: Iterable[Any] = (),
        kwds: Mapping[str, Any] | None = None,
        callback: Callback | None = None,
        error_callback: Callback | None = None,
    ) -> ApplyResult:
        """Submit a call; a callback receives its result or its exception."""
        return ApplyResult(self.executor.submit(func, *args, **kwds or {}), callback, error_callback)

    def map(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int | None = None) -> list[Any]:
        """Return the list of results of a call for each item."""
        return self.starmap(func, zip(iterable), chunksize)

    def map_async(
        self,
        func: Callable[..., Any],
        iterable: Iterable[Any],
        chunksize: int | None = None,
        callback: Callback | None = None,
        error_callback: Callback | None = None,
    ) -> MapResult:
        """Submit a call for each item; a callback receives the list of results or an exception."""
        return self.starmap_async(func, zip(iterable), chunksize, callback, error_callback)

    def imap(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int = 1) -> Iterator[Any]:
        """Return an iterator over the results of a call for each item, in order."""
        results: Iterator[Any] = self.executor.map(func, iterable, chunksize=chunksize)
        return results

    def imap_unordered(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int = 1) -> Iterator[Any]:
        """Return an iterator over the results of a call for each item, in order of completion."""
        results: Iterator[Any] = self.executor.map(func, iterable, chunksize=chunksize, unordered=True)
        return results

    def starmap(
        self, func: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: int | None = None
    ) -> list[Any]:
        """Return the list of results of a call for each item, a sequence of arguments."""
        items, chunksize = self._chunked(iterable, chunksize)
        return list(self.istarmap(func, items, chunksize))

    def starmap_async(
        self,
        func: Callable[..., Any],
        iterable: Iterable[Iterable[Any]],
        chunksize: int | None = None,
        callback: Callback | None = None,
        error_callback: Callback | None = None,
    ) -> MapResult:
        """Submit a call for each item, a sequence of arguments; callbacks as for `map_async`."""
        items, chunksize = self._chunked(iterable, chunksize)
        futures = [self.executor.submit(calls_of, func, chunk) for chunk in chunks_of(items, chunksize)]
        future = compose(collect(futures), lambda lists: list(chain.from_iterable(lists)))
        return MapResult(future, callback, error_callback)

    def istarmap(self, func: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: int = 1) -> Iterator[Any]:
        """Return an iterator like `imap`; each item is a sequence of arguments."""
        results: Iterator[Any] = self.executor.starmap(func, iterable, chunksize=chunksize)
        return results

    def istarmap_unordered(
        self, func: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: int = 1
    ) -> Iterator[Any]:
        """Return an iterator like `imap_unordered`; each item is a sequence of arguments."""
        results: Iterator[Any] = self.executor.starmap(func, iterable, chunksize=chunksize, unordered=True)
        return results

    def close(self) -> None:
        """Accept no more calls; pending calls are executed."""
        self.executor.shutdown(wait=False)

    def terminate(self) -> None:
        """Accept no more calls; pending calls are canceled."""
        self.executor.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait until the workers have ended."""
        self.executor.shutdown(wait=True)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _chunked(self, iterable: Iterable[Any], chunksize: int | None) -> tuple[Iterable[Any], int]:
        """Return the items and the chunk size."""
        if chunksize is not None:
            return iterable, chunksize
        items = list(iterable)
        return items, -(-len(items) // (PER_WORKER * self.executor._max_workers)) or 1


class ThreadPool(Pool):
    """A pool whose workers are threads of this rank."""

    Executor = ThreadPoolExecutor


class AsyncResult:
    """The result of an asynchronous call."""

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
        """Return the result or raise the exception of the call; TimeoutError after `timeout` seconds or if canceled."""
        self.wait(timeout)
        if not self.ready():
            raise TimeoutError(f"no result after {timeout} seconds")
        try:
            return self.future.result()
        except CancelledError:
            raise TimeoutError("the pool was terminated before the call was executed") from None

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the result, for at most `timeout` seconds."""
        self._ready.wait(timeout)

    def ready(self) -> bool:
        """Return whether the call has completed."""
        return self._ready.is_set()

    def successful(self) -> bool:
        """Return whether the call completed without an exception; ValueError if it has not completed."""
        if not self.ready():
            raise ValueError("the call has not completed")
        return not self.future.cancelled() and self.future.exception() is None


class ApplyResult(AsyncResult):
    """The result of one call."""


class MapResult(AsyncResult):
    """The list of results of a map."""
