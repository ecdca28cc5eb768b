"""`MPIPoolExecutor`: an executor whose workers are MPI processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from concurrent.futures import Future as _Future
from typing import Any

from fakempi.mpi4py.futures import settings
from fakempi.mpi4py.futures.managers import spawn_pool, thread_pool, worker_pool
from fakempi.mpi4py.futures.mapping import results
from fakempi.mpi4py.futures.pools import Pool
from fakempi.mpi4py.futures.tasks import Task


class MPIPoolExecutor(Executor):
    """Makes calls on workers: processes that it spawns, or those that `-m mpi4py.futures` has set aside.

    Parameters
    ----------
    max_workers : how many to spawn at most; None is MPI4PY_FUTURES_MAX_WORKERS, or what the universe has place for, or 1
    initializer, initargs : what each worker calls before its first task
    kwargs : of mpi4py: globals, main, path, mpi_info, use_pkl5, backoff; python_exe, python_args, wdir and env as far as
        ranks of one process can have them
    """

    Future: type[_Future[Any]] = _Future
    _make_pool: Callable[[Any], Pool] = staticmethod(worker_pool)

    def __init__(
        self,
        max_workers: int | None = None,
        initializer: Callable[..., Any] | None = None,
        initargs: Iterable[Any] = (),
        **kwargs: Any,
    ) -> None:
        if max_workers is not None:
            kwargs["max_workers"] = int(max_workers)
            if kwargs["max_workers"] < 1:
                raise ValueError(f"max_workers is {max_workers}; there must be at least 1.")
        if initializer is not None:
            if not callable(initializer):
                raise TypeError(f"initializer is {initializer!r}, which cannot be called.")
            kwargs.update(initializer=initializer, initargs=tuple(initargs))
        settings.check(kwargs)
        self._options = kwargs
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self._shutdown = False
        self._broken: str | None = None

    @property
    def num_workers(self) -> int:
        """How many workers there are: started if they are not, and 0 when it is over."""
        with self._lock:
            if self._broken or self._shutdown:
                return 0
            pool = self._started()
        pool.wait()
        return pool.size or 0

    _max_workers = num_workers

    def bootup(self, wait: bool = True) -> MPIPoolExecutor:
        """Start workers now; by default, return when they are there."""
        with self._lock:
            if self._shutdown:
                raise RuntimeError("cannot bootup after shutdown")
            pool = self._started()
        if wait:
            pool.wait()
        return self

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> _Future[Any]:
        """Have a call made by a worker."""
        with self._lock:
            if self._broken:
                raise BrokenExecutor(self._broken)
            if self._shutdown:
                raise RuntimeError("cannot submit after shutdown")
            future = self.Future()
            self._started().queue.put(Task(future, fn, args, kwargs))
        return future

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
        unordered: bool = False,
    ) -> Iterator[Any]:
        """As Python's `map`, each call made by some worker; see `starmap`."""
        return self.starmap(fn, zip(*iterables, strict=False), timeout, chunksize, buffersize, unordered)

    def starmap(
        self,
        fn: Callable[..., Any],
        iterable: Iterable[Iterable[Any]],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
        unordered: bool = False,
    ) -> Iterator[Any]:
        """As Python's `itertools.starmap`, each call made by some worker; all are submitted now.

        Parameters
        ----------
        timeout : seconds from now in which results are to be there, or a TimeoutError is raised
        chunksize : how many calls a worker makes for one task
        buffersize : how many tasks may be pending of which no result has been asked for; the others are submitted later
        unordered : yield a result as soon as it is there
        """
        return results(self, fn, iterable, timeout, chunksize, buffersize, unordered)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more tasks, and let workers go when those that are pending are done, or are cancelled; wait for that."""
        with self._lock:
            pool = self._pool
            if pool is not None and not self._shutdown:
                pool.done()
            self._shutdown = True
            if pool is not None and cancel_futures:
                pool.cancel()
            if wait:
                self._pool = None
        if wait and pool is not None:
            pool.join()

    def _started(self) -> Pool:
        if self._pool is None:
            self._pool = self._make_pool(self)
        return self._pool


class ThreadPoolExecutor(MPIPoolExecutor):
    """Its workers are threads of this rank; one, if it is told no number."""

    _make_pool = staticmethod(thread_pool)


class ProcessPoolExecutor(MPIPoolExecutor):
    """Its workers are spawned, also under `-m mpi4py.futures`."""

    _make_pool = staticmethod(spawn_pool)
