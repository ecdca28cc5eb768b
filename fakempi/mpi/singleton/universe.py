"""A universe of one process, for programs that call MPI outside a run, as they do when mpi4py is started without mpiexec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from fakempi.core.arguments import RunOptions
from fakempi.core.kernel.task import Task
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.models.zero_cost import ZeroCost
from fakempi.errors import Aborted, DeadlockError
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.collective.selection import Selection
from fakempi.mpi.comms.port import OpenPorts
from fakempi.mpi.comms.process_creation import new_world
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.point.arrival import matched
from fakempi.mpi.singleton.loop import MAX_UNSUCCESSFUL_POLLS, SingletonLoop, advice


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
