"""`mpi4py.util.sync`: counters, mutexes, conditions and semaphores shared by all ranks of a communicator.

A counter is an element of a window. A mutex is the queue lock of Mellor-Crummey and Scott (1991, doi
10.1145/103727.103729): a window stores the last rank in the queue, and a new rank sends a message to its predecessor.
In mpi4py a rank polls; here it waits for a message, so a mutex that is never released is reported as a deadlock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fakempi import MPI
from fakempi.mpi.comms.predefined import COMM_SELF  # resolves to that of the running rank

__all__ = ["Condition", "Counter", "Mutex", "Semaphore", "Sequential"]

NO_RANK = MPI.PROC_NULL
ENQUEUED, GRANTED = 1, 2  # tags: the sender is queued behind the receiver; the receiver gets the mutex
EMPTY = [None, 0, MPI.BYTE]


class Sequential:
    """Context that ranks execute one after the other, in rank order: `with Sequential(comm): ...`."""

    def __init__(self, comm: Any, tag: int = 0) -> None:
        self.comm, self.tag = comm, int(tag)

    def __enter__(self) -> Sequential:
        self.begin()
        return self

    def __exit__(self, *failure: object) -> None:
        self.end()

    def begin(self) -> None:
        """Wait for the previous rank."""
        if self.comm.Get_rank() > 0:
            self.comm.Recv(EMPTY, self.comm.Get_rank() - 1, self.tag)

    def end(self) -> None:
        """Let the next rank begin."""
        if self.comm.Get_rank() < self.comm.Get_size() - 1:
            self.comm.Send(EMPTY, self.comm.Get_rank() + 1, self.tag)


class Counter:
    """A number on one rank that any rank reads and increments atomically."""

    def __init__(
        self, start: Any = 0, step: Any = 1, *, typecode: str = "i", comm: Any = COMM_SELF, info: Any = MPI.INFO_NULL,
        root: int = 0,
    ) -> None:  # fmt: skip
        datatype = MPI.Datatype.fromcode(typecode)
        size = datatype.Get_size()
        self._dtype = np.dtype(datatype.typechar)
        self._step, self._root = step, root
        self._window = MPI.Win.Allocate(size if comm.Get_rank() == root else 0, size, info, comm)
        if comm.Get_rank() == root:
            _memory(self._window, self._dtype)[:] = start
        comm.Barrier()

    def __iter__(self) -> Counter:
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self, incr: Any = None) -> Any:
        """Return the number, and add the increment, by default the step of the counter."""
        _check(self._window, "counter")
        by = np.array([self._step if incr is None else incr], self._dtype)
        before = np.zeros(1, self._dtype)
        self._window.Lock(self._root, MPI.LOCK_SHARED)
        self._window.Fetch_and_op(by, before, self._root, 0, MPI.SUM if by[0] else MPI.NO_OP)
        self._window.Unlock(self._root)
        return before[0].item()

    def free(self) -> None:
        """Free it collectively."""
        self._window.free()


class Mutex:
    """A mutex that ranks acquire in the order of their calls. Its holder may acquire a recursive mutex again."""

    def __init__(self, *, recursive: bool = False, comm: Any = COMM_SELF, info: Any = MPI.INFO_NULL) -> None:
        self._recursive = bool(recursive)
        self._depth = 0  # number of acquisitions by this rank
        self._comm = comm.Dup()
        self._window = MPI.Win.Allocate(4 if comm.Get_rank() == 0 else 0, 4, info, comm)
        if comm.Get_rank() == 0:
            _memory(self._window, "i")[:] = NO_RANK
        comm.Barrier()

    def __enter__(self) -> Mutex:
        self.acquire()
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Acquire the mutex; if not `blocking`, only if it is free. Return whether it was acquired."""
        _check(self._window, "mutex")
        if self._depth and not self._recursive:
            raise RuntimeError("this rank already holds the mutex, which is not recursive")
        if self._depth or self._lock(blocking):
            self._depth += 1
            return True
        return False

    def release(self) -> None:
        """Release the mutex; the next rank in the queue gets it."""
        self._check_held("release")
        self._depth -= 1
        if not self._depth:
            self._unlock()

    def locked(self) -> bool:
        """Return whether this rank holds the mutex."""
        _check(self._window, "mutex")
        return self._depth > 0

    def count(self) -> int:
        """Return the number of acquisitions by this rank."""
        _check(self._window, "mutex")
        return self._depth

    def free(self) -> None:
        """Free the mutex collectively; its holder releases it."""
        if not self._window:
            return
        if self._depth:
            self._depth = 0
            self._unlock()
        self._window.Free()
        self._comm.Free()

    def _check_held(self, what: str) -> None:
        _check(self._window, "mutex")
        if not self._depth:
            raise RuntimeError(f"cannot {what}: this rank does not hold the mutex")

    def _lock(self, blocking: bool) -> bool:
        """Join the queue and wait for the predecessor; if not `blocking`, only join an empty queue."""
        me, last = np.array([self._comm.Get_rank()], "i"), np.array([NO_RANK], "i")
        self._window.Lock(0, MPI.LOCK_SHARED)
        if blocking:
            self._window.Fetch_and_op(me, last, 0, 0, MPI.REPLACE)
        else:
            self._window.Compare_and_swap(me, np.array([NO_RANK], "i"), last, 0)
        self._window.Unlock(0)
        before = int(last[0])
        if before != NO_RANK and blocking:
            self._comm.Send(EMPTY, before, ENQUEUED)
            self._comm.Recv(EMPTY, before, GRANTED)
        return blocking or before == NO_RANK

    def _unlock(self) -> None:
        """Empty the queue, or pass the mutex to the next rank."""
        me, last = np.array([self._comm.Get_rank()], "i"), np.array([NO_RANK], "i")
        self._window.Lock(0, MPI.LOCK_SHARED)
        self._window.Compare_and_swap(np.array([NO_RANK], "i"), me, last, 0)
        self._window.Unlock(0)
        if last[0] != me[0]:
            status = MPI.Status()
            self._comm.Recv(EMPTY, MPI.ANY_SOURCE, ENQUEUED, status)
            self._comm.Send(EMPTY, status.Get_source(), GRANTED)


class Condition:
    """A condition variable with a mutex. Rank 0 stores the list of waiting ranks."""

    def __init__(
        self, mutex: Mutex | None = None, *, recursive: bool = True, comm: Any = COMM_SELF, info: Any = MPI.INFO_NULL
    ) -> None:
        self._owns_mutex = mutex is None
        self._mutex = Mutex(recursive=recursive, comm=comm, info=info) if mutex is None else mutex
        comm = comm if mutex is None else mutex._comm
        self._comm = comm.Dup()
        size = comm.Get_size()
        self._window = MPI.Win.Allocate(4 * (size + 1) if comm.Get_rank() == 0 else 0, 4, info, comm)

    def __enter__(self) -> Condition:
        self.acquire()
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Acquire the mutex."""
        _check(self._window, "condition")
        return self._mutex.acquire(blocking)

    def release(self) -> None:
        """Release the mutex."""
        _check(self._window, "condition")
        self._mutex.release()

    def locked(self) -> bool:
        """Return whether this rank holds the mutex."""
        return self._mutex.locked()

    def wait(self) -> bool:
        """Release the mutex, wait for a notification, and acquire the mutex again."""
        _check(self._window, "condition")
        self._mutex._check_held("wait")
        self._change(lambda waiting: [*waiting, self._comm.Get_rank()])
        held, self._mutex._depth = self._mutex._depth, 0
        self._mutex._unlock()
        self._comm.Recv(EMPTY, MPI.ANY_SOURCE, GRANTED)
        self._mutex._lock(True)
        self._mutex._depth = held
        return True

    def wait_for(self, predicate: Callable[[], Any]) -> Any:
        """Wait until the predicate returns a true value, and return that value."""
        result = predicate()
        while not result:
            self.wait()
            result = predicate()
        return result

    def notify(self, n: int = 1) -> int:
        """Notify at most `n` ranks, the longest waiting first; return their number."""
        _check(self._window, "condition")
        self._mutex._check_held("notify")
        notified: list[int] = []

        def pop_first(waiting: list[int]) -> list[int]:
            notified.extend(waiting[: max(0, n)])
            return waiting[len(notified) :]

        self._change(pop_first)
        for rank in notified:
            self._comm.Send(EMPTY, rank, GRANTED)
        return len(notified)

    def notify_all(self) -> int:
        """Notify all waiting ranks; return their number."""
        return self.notify(self._comm.Get_size())

    def free(self) -> None:
        """Free the condition collectively; the holder of the mutex releases it."""
        if not self._window:
            return
        if self._mutex._window and self._mutex._depth:
            self._mutex._depth = 0
            self._mutex._unlock()
        if self._owns_mutex:
            self._mutex.free()
        self._window.Free()
        self._comm.Free()

    def _change(self, change: Callable[[list[int]], list[int]]) -> None:
        """Change the list of waiting ranks; the mutex, which this rank holds, protects it."""
        entries = np.zeros(self._comm.Get_size() + 1, "i")
        self._window.Lock(0)
        self._window.Get(entries, 0)
        self._window.Flush(0)
        waiting = change(entries[1 : 1 + entries[0]].tolist())
        entries[: 1 + len(waiting)] = [len(waiting), *waiting]
        self._window.Put(entries, 0)
        self._window.Unlock(0)


class Semaphore:
    """A semaphore with an initial value."""

    def __init__(self, value: int = 1, *, bounded: bool = True, comm: Any = COMM_SELF, info: Any = MPI.INFO_NULL) -> None:
        if value < 0:
            raise ValueError(f"the initial value of a semaphore must be at least 0, not {value}")
        self._bounded, self._initial = bool(bounded), value
        self._counter = Counter(value, comm=comm, info=info)
        self._condition = Condition(recursive=False, comm=comm, info=info)

    def __enter__(self) -> Semaphore:
        self.acquire()
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Decrement the value; if it is 0, wait, or return False if not `blocking`. Return whether it was decremented."""
        with self._condition:
            while not self._counter.next(0):
                if not blocking:
                    return False
                self._condition.wait()
            self._counter.next(-1)
            return True

    def release(self, n: int = 1) -> None:
        """Increment the value by `n`; a bounded semaphore must not exceed its initial value."""
        if n < 1:
            raise ValueError(f"n must be at least 1, not {n}")
        with self._condition:
            value = self._counter.next(0)
            if self._bounded and value + n > self._initial:
                raise ValueError(f"release({n}) at value {value} would exceed the initial value {self._initial}")
            self._counter.next(n)
            self._condition.notify(n)

    def free(self) -> None:
        """Free it collectively."""
        self._counter.free()
        self._condition.free()


def _check(window: Any, what: str) -> None:
    if not window:
        raise RuntimeError(f"the {what} has been freed")


def _memory(window: Any, dtype: Any) -> Any:
    """Return the local memory of a window as an array."""
    return np.frombuffer(window.tomemory(), dtype)
