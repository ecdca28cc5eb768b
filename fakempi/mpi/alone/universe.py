"""A universe of one process, for programs that call MPI outside a run, as they do when mpi4py is started without mpiexec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from fakempi.errors import Aborted, DeadlockError
from fakempi.kernel.task import Task
from fakempi.mpi.alone.loop import PATIENCE, AloneLoop, advice
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.comms.birth import new_world
from fakempi.mpi.point.arrival import matched
from fakempi.wire.delivery import Delivery
from fakempi.wire.models.free import Free


class ExitByAbort(Aborted, SystemExit):
    """The program called `Abort(errorcode)` outside a run: unless it is caught, Python ends with that exit code."""

    def __init__(self, errorcode: int = 0) -> None:
        super().__init__(errorcode)
        self.code = errorcode & 0xFF


class Host(Free):
    """Nothing takes modelled time, on the machine that this is."""

    def __init__(self) -> None:
        super().__init__()
        self.in_order = True

    def node_name(self, process: int) -> str:
        """The machine's own."""
        import platform  # if needed: nothing else here does

        return platform.node()


class AloneUniverse(Universe):
    """One process and nobody else. Nothing ends it: what goes wrong is raised where the program calls."""

    alone = True

    def __init__(self) -> None:
        cost = Host()
        loop = AloneLoop(self._diagnose, lambda: (self.wire.out[0].sent, self.glances))
        super().__init__(loop, Delivery(loop, cost, matched), cost, None, False)
        (process,) = new_world(self, 1)
        loop.spawned = 1
        process.task = loop.tasks[1] = loop.running = Task(loop, 1, _calls_by_itself, process)

    def choose(self, **facts: Any) -> Any:
        """What a collective call does alone, without a look at all algorithms, which takes a second to import."""
        return Choice(facts["operation"])

    def sizes(self, sizes: Sequence[int]) -> Any:
        """Nobody asks for them."""
        return sizes

    def fail(self, process: Process, error: BaseException) -> NoReturn:
        """There is no run to end."""
        raise ExitByAbort(error.errorcode) if type(error) is Aborted else error

    def _diagnose(self) -> DeadlockError:
        from fakempi.mpi.evidence.waits import diagnose  # not before it is needed

        self.polled_in_vain = PATIENCE if self.loop.starved else 0
        found = diagnose(self)
        self.reported.clear()
        for port in self.ports.values():
            port.waiting.clear()  # it was the program itself that waited there
        return type(found)(f"{found}\n{advice()}", found.stuck, found.cycle, found.time)


class Choice:
    """The algorithm of every collective call on one rank: what it sends is what it receives."""

    name = "linear"

    def __init__(self, operation: str) -> None:
        self.algorithm = self
        self.run: Callable[..., None] = _nothing if operation in ("barrier", "bcast", "exscan", "alltoallw") else _copy

    def with_parts(self, text: Any) -> Choice:
        """It has no parts."""
        return self

    def on(self, twins: Any, **options: Any) -> Callable[..., None]:
        """What to call with the buffers."""
        return self.run


def _nothing(*arrays: Any) -> None:
    """Nobody to wait for, to send to, or before this one; alltoallw copies a rank's own block by itself."""


def _copy(sendbuf: Any, recvbuf: Any, *sizes: Any) -> None:
    """What was sent; None is in place."""
    if sendbuf is not None and recvbuf is not None:
        recvbuf[0 : recvbuf.size] = sendbuf


def _calls_by_itself() -> None:
    """The program is not started: it calls."""


def process() -> Process:
    """The process of a new world of one."""
    return AloneUniverse().processes[0]
