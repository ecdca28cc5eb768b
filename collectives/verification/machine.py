"""Machine: the interface by which verification runs a program on ranks and receives the outcome.

A machine is passed to `verify`, or provided by an installed package: an entry point in the group `collectives.machines`
names a callable without arguments that returns a `Machine`. fakempi provides one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, NamedTuple, Protocol

GROUP = "collectives.machines"


class Setting(NamedTuple):
    """The cost model of a run (see `collectives.__doc__`), its buffering, and its backend."""

    t_s: int = 1000
    t_w: int = 1
    c: int = 0
    eager_limit: int = 0
    """Bytes up to which a send does not wait for its receive; the claims assume 0."""
    backend: str = ""
    """One of the machine's backends; the first one if empty."""
    late: int = -1
    """If not -1, ranks make the call one after another, and this rank is the last."""

    def __str__(self) -> str:
        costs = f"t_s = {self.t_s}, t_w = {self.t_w}" + (f", c = {self.c}" if self.c else "")
        buffered = f"messages of up to {self.eager_limit} bytes buffered" if self.eager_limit else "no buffering"
        late = [f"ranks start one after another, rank {self.late} last"] if self.late >= 0 else []
        return ", ".join([costs, buffered, *late, *([f"backend {self.backend}"] if self.backend else [])])


class RunMessage(NamedTuple):
    """One message of a run, with the start and the end of its transfer."""

    source: int
    dest: int
    nbytes: int
    start: float
    end: float


@dataclass(frozen=True)
class RunFailure:
    """The reason why a run did not finish.

    Attributes
    ----------
    kind
        "deadlock", "livelock", "timeout" or "error" (a rank raised an exception).
    report
        The machine's report, of one or several lines.
    rank, error
        The first rank that raised, and its exception.
    """

    kind: str
    report: str = ""
    rank: int | None = None
    error: BaseException | None = None


@dataclass(frozen=True)
class RunOutcome:
    """The outcome of a run. With two groups, the ranks of A are numbered first, then those of B."""

    time: Any = 0
    messages: Sequence[int] = ()
    """Messages sent, by rank."""
    sent: Sequence[int] = ()
    """Bytes sent, by rank."""
    unmatched: Sequence[str] = ()
    """Descriptions of messages that were never received, and of receives that never matched."""
    transfers: Sequence[RunMessage] = field(default=(), repr=False)
    """The messages in the order in which they started, if a trace was requested."""
    failure: RunFailure | None = None


class Machine(Protocol):
    """Runs programs on virtual or real ranks, exactly in the model. A context manager: `with` starts and stops it."""

    @property
    def MPI(self) -> Any:
        """The module with mpi4py's interface that provides the ops."""

    @property
    def backends(self) -> Sequence[str]:
        """The available backends; the first is the default."""

    def __enter__(self) -> object: ...
    def __exit__(self, *error: Any) -> object: ...

    def run(self, program: Callable[..., Any], p: int, q: int, setting: Setting, trace: bool = False) -> RunOutcome:
        """Call `program(comm)` on p ranks; or, if q is not 0, `program(inter, local, in_a)` on groups of p and q.

        If the program fails, no exception is raised: the outcome contains the failure.
        """

    def compute(self, seconds: int) -> None:
        """Advance the calling rank's clock by modeled seconds of computation."""


class NoMachineError(LookupError):
    """No machine was passed, and no installed package provides one."""


def installed_machine() -> Machine:
    """Return the machine that an installed package provides; of several, the first by name."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        machine: Machine = entry.load()()
        return machine
    raise NoMachineError(
        "verify needs a machine to run algorithms on, and no installed package provides one (entry-point group "
        f"{GROUP!r}). Install fakempi, or pass a machine: verify(algorithm, machine=fakempi.apps.emulator.Emulator())."
    )
