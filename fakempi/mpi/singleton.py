"""COMM_WORLD outside a run, as when mpi4py is started without mpiexec: a universe of one process, created on first use.

Its only task is the calling code, which the loop has not started, and there is no other task to switch to. Booked actions
are carried out while the program waits. If the program still has to wait after the last of them, nothing can wake it, which
is reported as a deadlock at once. So no backend is needed: a singleton has no greenlets and no threads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

from fakempi.core.arguments import RunOptions
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.models.zero_cost import ZeroCost
from fakempi.errors import Aborted, DeadlockError
from fakempi.errors.classes import ERR_COMM
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import os_thread, singleton_process
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.collective.selection import Selection
from fakempi.mpi.comms.port import OpenPorts
from fakempi.mpi.comms.process_creation import new_world
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.point.arrival import matched

MAX_UNSUCCESSFUL_POLLS = 100_000
"""After this number of unsuccessful polls without a message (seconds of real time), a livelock is reported. The number is
larger than in a run, because a program may poll between pieces of real work for a message that need not arrive."""


class CallerBackend:
    """In place of a backend: the stack of the only task is that of the caller."""

    def frames(self, tasks: list[Task]) -> dict[Task, FrameType]:
        """Return the current frame for all tasks."""
        return dict.fromkeys(tasks, frame_at(0))


class SingletonLoop(Loop):
    """Modeled time for one task, which is the calling thread."""

    def __init__(self, diagnose: Callable[[], DeadlockError], progress: Callable[[], object]) -> None:
        super().__init__(CallerBackend())  # type: ignore[arg-type]  # its other methods are never called
        self.diagnose = diagnose
        self.progress = progress  # returns a value that changes with every message
        self.polled: object = None
        self.polls = 0

    @property
    def running(self) -> Task | None:
        """The task of the program, or a child task. Raises an error in the ranks of a run and in their threads."""
        if os_thread.loop is not None:
            sentence = "this object was created outside the run: no rank can use it. Create it in each rank."
            raise mpi_error(ERR_COMM, sentence)
        singleton_process()
        task: Task | None = self.__dict__["running"]
        return task

    @running.setter
    def running(self, task: Task | None) -> None:
        self.__dict__["running"] = task

    def spawn(self, body: Callable[[], None], owner: Any = None, prepare: Any = None) -> Task:
        """Run a child task immediately: with one rank, a collective call never waits."""
        me, self.spawned = self.running, self.spawned + 1
        task = self.tasks[self.spawned] = self.running = Task(self, self.spawned, body, owner)
        try:
            body()
        finally:
            self.running = me
            del self.tasks[task.number]
        return task

    def wait(self) -> None:
        """Carry out booked actions; raise an error if they do not wake the program."""
        me: Task = self.running  # type: ignore[assignment]  # a task waits
        try:
            woken = self.next() is me
        finally:
            self.running = me
        if not woken:
            self._give_up(me)

    def poll(self) -> None:
        """Like `Loop.poll`, with a larger number of unsuccessful polls."""
        me: Task = self.running  # type: ignore[assignment]  # a task polls
        seen = self.now, self.progress()
        self.polls = self.polls + 1 if seen == self.polled else 0
        self.polled = seen
        if self.polls == MAX_UNSUCCESSFUL_POLLS and sys.getprofile() is None:  # observe the program's calls, once
            sys.setprofile(self._called)
        if self.polls > MAX_UNSUCCESSFUL_POLLS:
            self._stop_listening()
            self.polls, self.starved, self.pollers = 0, True, [me]
            self._give_up(me)
        if self.unfinished:
            self.finish()
        if self.times:  # there are events in the future: advance the time
            self.run_at(self.times[0], me)
            self.wait()

    def _called(self, frame: FrameType, event: str, function: object) -> None:
        from fakempi.mpi.diagnostics.polling import reads_external_state  # imported only if needed

        if event == "c_call" and reads_external_state(frame, function):
            self.polls = 0  # it waits for something outside MPI, such as the real clock
            self._stop_listening()

    def _stop_listening(self) -> None:
        if sys.getprofile() == self._called:
            sys.setprofile(None)

    def _give_up(self, me: Task) -> None:
        """Raise the error that explains the wait, and withdraw its operations: the program may catch it and continue."""
        try:
            error = self.diagnose()
        finally:
            polled, self.starved, self.pollers = self.starved, False, []
            reason, me.reason = me.reason, None
            for operation in reason if isinstance(reason, tuple) else (reason,):
                if getattr(operation, "end", self) is None and not polled:
                    operation.waiter = None
                    if isinstance(operation, (Envelope, PostedReceive)):
                        operation.box.withdraw(operation)
        raise error


def advice() -> str:
    """Return advice for a program that is blocked outside a run."""
    lines = ["  outside a run COMM_WORLD has one rank: use fakempi.run(main, n) or fakempi run -n N for more ranks."]
    if threading.active_count() > 1:
        lines.append("  another thread cannot wake it: one thread at a time may call MPI here (MPI.THREAD_SERIALIZED).")
    return "\n".join(lines)


class ExitByAbort(Aborted, SystemExit):
    """The program called `Abort(errorcode)` outside a run: unless it is caught, Python ends with that exit code."""

    def __init__(self, errorcode: int = 0) -> None:
        super().__init__(errorcode)
        self.code = errorcode & 0xFF


class SingletonCost(ZeroCost):
    """The cost model: communication takes no modeled time, and the node is this machine."""

    def __init__(self) -> None:
        super().__init__()
        self.in_order = True

    def node_name(self, process: int) -> str:
        """Return the name of the machine."""
        import platform  # imported only if needed

        return platform.node()


class SingletonSelection(Selection):
    """The algorithms for one rank."""

    def choose(self, **facts: object) -> SingletonChoice:  # type: ignore[override]  # a universe of one rank needs no facts
        """Return the algorithm for one rank, without importing the catalogue, which takes a second."""
        return SingletonChoice(str(facts["operation"]))

    def needs_send_costs(self, operation: str) -> bool:
        """Return False: one rank sends nothing."""
        return False

    def sizes(self, sizes: Sequence[int]) -> Sequence[int]:
        """Return the sizes unchanged: no tuning rule depends on them."""
        return sizes


class SingletonUniverse(Universe):
    """A universe of one process. Nothing ends it: errors are raised in the program's calls."""

    is_singleton = True

    def __init__(self) -> None:
        cost = SingletonCost()
        loop = SingletonLoop(self._diagnose, lambda: (self.network.out[0].sent, self.clock_reads))
        super().__init__(loop, Delivery(loop, cost, matched), cost, RunOptions())
        self.states[Selection] = SingletonSelection(self)
        (process,) = new_world(self, 1)
        loop.spawned = 1
        process.task = loop.tasks[1] = loop.running = Task(loop, 1, _no_body, process)

    def fail(self, process: Process, error: BaseException) -> NoReturn:
        """Raise the error: there is no run to end."""
        raise ExitByAbort(error.errorcode) if type(error) is Aborted else error

    def _diagnose(self) -> DeadlockError:
        from fakempi.mpi.diagnostics.waits import DeadlockState, diagnose  # imported only if needed

        state = self.state(DeadlockState)
        state.unsuccessful_polls = MAX_UNSUCCESSFUL_POLLS if self.loop.starved else 0
        error = diagnose(self)
        state.events.clear()
        for port in self.state(OpenPorts).open.values():
            port.waiting.clear()  # the program itself waited there
        return type(error)(f"{error}\n{advice()}", error.blocked, error.cycle, error.time)


class SingletonChoice:
    """The algorithm of every collective call on one rank: copy the send buffer to the receive buffer."""

    name, root = "linear", None

    def __init__(self, operation: str) -> None:
        self.algorithm = self
        self.run: Callable[..., None] = _nothing if operation in ("barrier", "bcast", "exscan", "alltoallw") else _copy

    def for_objects(self, text: object) -> SingletonChoice:
        """Return this object: the algorithm has no parts."""
        return self

    def on(self, comms: tuple[object, ...], **options: object) -> Callable[..., None]:
        """Return the function that takes the buffers."""
        return self.run


def _nothing(*arrays: object) -> None:
    """Do nothing: there is no other rank, and the block of the rank for itself has been copied already."""


def _copy(sendbuf: Array | None, recvbuf: Array | None, *sizes: object) -> None:
    """Copy the send buffer to the receive buffer; None means in place."""
    if sendbuf is not None and recvbuf is not None:
        recvbuf[0 : recvbuf.size] = sendbuf


def _no_body() -> None:
    """The body of the task, which is never called: the program is already running."""


def singleton() -> Process:
    """Create a singleton, and return its process."""
    return SingletonUniverse().processes[0]
