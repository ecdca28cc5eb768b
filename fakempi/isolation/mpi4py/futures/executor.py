"""`MPIPoolExecutor`: an executor whose workers are MPI processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from concurrent.futures import Future as _Future
from typing import Any

from fakempi.isolation.mpi4py.futures import settings
from fakempi.isolation.mpi4py.futures.managers import spawn_pool, thread_pool, worker_pool
from fakempi.isolation.mpi4py.futures.mapping import results
from fakempi.isolation.mpi4py.futures.pools import WorkerPool
from fakempi.isolation.mpi4py.futures.tasks import SubmittedTask


class MPIPoolExecutor(Executor):
    """Executor whose workers are spawned processes, or the other ranks under `-m mpi4py.futures`.

    Parameters
    ----------
    max_workers : number of workers to spawn; None is MPI4PY_FUTURES_MAX_WORKERS, the free slots of the universe, or 1
    initializer, initargs : a function that each worker calls before its first task, and its arguments
    kwargs : options of mpi4py: globals, main, path, mpi_info, use_pkl5, backoff; env in `fakempi run`; python_exe,
        python_args, wdir, and env elsewhere, if in-process workers can honor them
    """

    Future: type[_Future[Any]] = _Future
    _make_pool: Callable[[Any], WorkerPool] = staticmethod(worker_pool)

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
                raise ValueError(f"max_workers is {max_workers}; it must be at least 1.")
        if initializer is not None:
            if not callable(initializer):
                raise TypeError(f"initializer is {initializer!r}, which is not callable.")
            kwargs.update(initializer=initializer, initargs=tuple(initargs))
        settings.check(kwargs)
        self._options = kwargs
        self._lock = threading.Lock()
        self._pool: WorkerPool | None = None
        self._shutdown = False
        self._broken: str | None = None

    @property
    def num_workers(self) -> int:
        """The number of workers, which are started if necessary; 0 after shutdown."""
        with self._lock:
            if self._broken or self._shutdown:
                return 0
            pool = self._started()
        pool.wait()
        return pool.size or 0

    _max_workers = num_workers

    def bootup(self, wait: bool = True) -> MPIPoolExecutor:
        """Start workers now; by default, wait until they are ready."""
        with self._lock:
            if self._shutdown:
                raise RuntimeError("cannot bootup after shutdown")
            pool = self._started()
        if wait:
            pool.wait()
        return self

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> _Future[Any]:
        """Submit a call to a worker and return its future."""
        with self._lock:
            if self._broken:
                raise BrokenExecutor(self._broken)
            if self._shutdown:
                raise RuntimeError("cannot submit after shutdown")
            future = self.Future()
            self._started().queue.put(SubmittedTask(future, fn, args, kwargs))
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
        """Return an iterator like Python's `map`, with calls executed by workers; see `starmap`."""
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
        """Return an iterator like `itertools.starmap`, with calls executed by workers; all are submitted now.

        Parameters
        ----------
        timeout : seconds from now after which a missing result raises TimeoutError
        chunksize : number of calls in a task
        buffersize : maximum number of tasks whose results have not been yielded; the others are submitted later
        unordered : yield results in order of completion
        """
        return results(self, fn, iterable, timeout, chunksize, buffersize, unordered)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more tasks; stop workers after the pending tasks are done or canceled; by default, wait for that."""
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

    def _started(self) -> WorkerPool:
        if self._pool is None:
            self._pool = self._make_pool(self)
        return self._pool


class ThreadPoolExecutor(MPIPoolExecutor):
    """Executor whose workers are threads of this rank; by default one."""

    _make_pool = staticmethod(thread_pool)


class ProcessPoolExecutor(MPIPoolExecutor):
    """Executor whose workers are spawned, also under `-m mpi4py.futures`."""

    _make_pool = staticmethod(spawn_pool)
