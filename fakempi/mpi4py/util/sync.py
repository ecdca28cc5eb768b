"""mpi4py.util.sync: counters, mutexes, conditions and semaphores that all ranks of a communicator share.

A counter is an element of a window. A mutex is the queue of Mellor-Crummey and Scott (1991, doi 10.1145/103727.103729): a
window has who came last, and whoever comes tells the one before. Where mpi4py's own looks again and again whether its turn
has come, here it waits for a message, so nobody spins, and a mutex that is never released is a deadlock report.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fakempi import MPI
from fakempi.mpi.comms.predefined import COMM_SELF  # the running rank's own, whenever it is used

__all__ = ["Condition", "Counter", "Mutex", "Semaphore", "Sequential"]

NOBODY = MPI.PROC_NULL
FOLLOWS, TURN = 1, 2  # tags: I come after you; it is your turn
EMPTY = [None, 0, MPI.BYTE]


class Sequential:
    """Lets ranks do something one after the other, in their order: `with Sequential(comm): ...`."""

    def __init__(self, comm: Any, tag: int = 0) -> None:
        self.comm, self.tag = comm, int(tag)

    def __enter__(self) -> Sequential:
        self.begin()
        return self

    def __exit__(self, *failure: object) -> None:
        self.end()

    def begin(self) -> None:
        """Wait for the rank before."""
        if self.comm.Get_rank() > 0:
            self.comm.Recv(EMPTY, self.comm.Get_rank() - 1, self.tag)

    def end(self) -> None:
        """Let the next rank begin."""
        if self.comm.Get_rank() < self.comm.Get_size() - 1:
            self.comm.Send(EMPTY, self.comm.Get_rank() + 1, self.tag)


class Counter:
    """A number at one rank, which any rank reads and advances at once."""

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
        """The number, which is advanced by the increment, or by the counter's step."""
        _check(self._window, "counter")
        by = np.array([self._step if incr is None else incr], self._dtype)
        before = np.zeros(1, self._dtype)
        self._window.Lock(self._root, MPI.LOCK_SHARED)
        self._window.Fetch_and_op(by, before, self._root, 0, MPI.SUM if by[0] else MPI.NO_OP)
        self._window.Unlock(self._root)
        return before[0].item()

    def free(self) -> None:
        """Give it up, all ranks together."""
        self._window.free()


class Mutex:
    """One rank at a time has it, in the order in which they asked; a recursive one may be acquired again by who has it."""

    def __init__(self, *, recursive: bool = False, comm: Any = COMM_SELF, info: Any = MPI.INFO_NULL) -> None:
        self._recursive = bool(recursive)
        self._held = 0  # how often this rank has acquired it
        self._comm = comm.Dup()
        self._window = MPI.Win.Allocate(4 if comm.Get_rank() == 0 else 0, 4, info, comm)
        if comm.Get_rank() == 0:
            _memory(self._window, "i")[:] = NOBODY
        comm.Barrier()

    def __enter__(self) -> Mutex:
        self.acquire()
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Have it, when its turn comes; if not `blocking`, only if nobody has it. Whether it has it now."""
        _check(self._window, "mutex")
        if self._held and not self._recursive:
            raise RuntimeError("this rank has the mutex already, and it is not recursive")
        if self._held or self._enter(blocking):
            self._held += 1
            return True
        return False

    def release(self) -> None:
        """Let the next one have it."""
        self._check_held("release")
        self._held -= 1
        if not self._held:
            self._leave()

    def locked(self) -> bool:
        """Whether this rank has it."""
        _check(self._window, "mutex")
        return self._held > 0

    def count(self) -> int:
        """How often this rank has acquired it."""
        _check(self._window, "mutex")
        return self._held

    def free(self) -> None:
        """Give it up, all ranks together; who has it releases it."""
        if not self._window:
            return
        if self._held:
            self._held = 0
            self._leave()
        self._window.Free()
        self._comm.Free()

    def _check_held(self, what: str) -> None:
        _check(self._window, "mutex")
        if not self._held:
            raise RuntimeError(f"cannot {what}: this rank does not have the mutex")

    def _enter(self, blocking: bool) -> bool:
        """Become the last in the queue, and wait for the one before; or only if there is none."""
        me, last = np.array([self._comm.Get_rank()], "i"), np.array([NOBODY], "i")
        self._window.Lock(0, MPI.LOCK_SHARED)
        if blocking:
            self._window.Fetch_and_op(me, last, 0, 0, MPI.REPLACE)
        else:
            self._window.Compare_and_swap(me, np.array([NOBODY], "i"), last, 0)
        self._window.Unlock(0)
        before = int(last[0])
        if before != NOBODY and blocking:
            self._comm.Send(EMPTY, before, FOLLOWS)
            self._comm.Recv(EMPTY, before, TURN)
        return blocking or before == NOBODY

    def _leave(self) -> None:
        """If somebody has come since, that one is next."""
        me, last = np.array([self._comm.Get_rank()], "i"), np.array([NOBODY], "i")
        self._window.Lock(0, MPI.LOCK_SHARED)
        self._window.Compare_and_swap(np.array([NOBODY], "i"), me, last, 0)
        self._window.Unlock(0)
        if last[0] != me[0]:
            status = MPI.Status()
            self._comm.Recv(EMPTY, MPI.ANY_SOURCE, FOLLOWS, status)
            self._comm.Send(EMPTY, status.Get_source(), TURN)


class Condition:
    """Ranks that have a mutex wait here, without it, until another one tells them. Rank 0 has the list of who waits."""

    def __init__(
        self, mutex: Mutex | None = None, *, recursive: bool = True, comm: Any = COMM_SELF, info: Any = MPI.INFO_NULL
    ) -> None:
        self._owns = mutex is None
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
        """Have the mutex."""
        _check(self._window, "condition")
        return self._mutex.acquire(blocking)

    def release(self) -> None:
        """Let the next one have the mutex."""
        _check(self._window, "condition")
        self._mutex.release()

    def locked(self) -> bool:
        """Whether this rank has the mutex."""
        return self._mutex.locked()

    def wait(self) -> bool:
        """Release the mutex, wait to be told, and have the mutex again."""
        _check(self._window, "condition")
        self._mutex._check_held("wait")
        self._change(lambda waiting: [*waiting, self._comm.Get_rank()])
        held, self._mutex._held = self._mutex._held, 0
        self._mutex._leave()
        self._comm.Recv(EMPTY, MPI.ANY_SOURCE, TURN)
        self._mutex._enter(True)
        self._mutex._held = held
        return True

    def wait_for(self, predicate: Callable[[], Any]) -> Any:
        """Wait again and again until a function returns something true, which is the result."""
        result = predicate()
        while not result:
            self.wait()
            result = predicate()
        return result

    def notify(self, n: int = 1) -> int:
        """Tell those that have waited longest, at most so many; how many they are."""
        _check(self._window, "condition")
        self._mutex._check_held("notify")
        told: list[int] = []

        def take(waiting: list[int]) -> list[int]:
            told.extend(waiting[: max(0, n)])
            return waiting[len(told) :]

        self._change(take)
        for rank in told:
            self._comm.Send(EMPTY, rank, TURN)
        return len(told)

    def notify_all(self) -> int:
        """Tell all that wait; how many they are."""
        return self.notify(self._comm.Get_size())

    def free(self) -> None:
        """Give it up, all ranks together; who has the mutex releases it."""
        if not self._window:
            return
        if self._mutex._window and self._mutex._held:
            self._mutex._held = 0
            self._mutex._leave()
        if self._owns:
            self._mutex.free()
        self._window.Free()
        self._comm.Free()

    def _change(self, change: Callable[[list[int]], list[int]]) -> None:
        """Change the list of those that wait, which nobody else does meanwhile: this rank has the mutex."""
        board = np.zeros(self._comm.Get_size() + 1, "i")
        self._window.Lock(0)
        self._window.Get(board, 0)
        self._window.Flush(0)
        waiting = change(board[1 : 1 + board[0]].tolist())
        board[: 1 + len(waiting)] = [len(waiting), *waiting]
        self._window.Put(board, 0)
        self._window.Unlock(0)


class Semaphore:
    """At most so many ranks have it at a time."""

    def __init__(
        self, value: int = 1, *, bounded: bool = True, comm: Any = COMM_SELF, info: Any = MPI.INFO_NULL
    ) -> None:
        if value < 0:
            raise ValueError(f"a semaphore begins with 0 or more, not with {value}")
        self._bounded, self._most = bool(bounded), value
        self._counter = Counter(value, comm=comm, info=info)
        self._condition = Condition(recursive=False, comm=comm, info=info)

    def __enter__(self) -> Semaphore:
        self.acquire()
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Take one; if none is left, wait for one, unless it is not `blocking`. Whether it has one now."""
        with self._condition:
            while not self._counter.next(0):
                if not blocking:
                    return False
                self._condition.wait()
            self._counter.next(-1)
            return True

    def release(self, n: int = 1) -> None:
        """Give back so many; if it is bounded, no more than there were."""
        if n < 1:
            raise ValueError(f"one or more are given back, not {n}")
        with self._condition:
            left = self._counter.next(0)
            if self._bounded and left + n > self._most:
                raise ValueError(f"{left} are left and {n} are given back, but there were only {self._most}")
            self._counter.next(n)
            self._condition.notify(n)

    def free(self) -> None:
        """Give it up, all ranks together."""
        self._counter.free()
        self._condition.free()


def _check(window: Any, what: str) -> None:
    if not window:
        raise RuntimeError(f"the {what} has been freed")


def _memory(window: Any, dtype: Any) -> Any:
    """A window's own memory, as numbers."""
    return np.frombuffer(window.tomemory(), dtype)
