"""What verification asks of a machine, which is handed in or found: it runs a program on ranks and says what became of it.

An installed package offers one by an entry point in the group `collectives.machines`: something that can be called
without arguments and gives a `Machine`. The emulator does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, NamedTuple, Protocol

GROUP = "collectives.machines"


class Setting(NamedTuple):
    """What a run costs and how it is carried out: the model of `collectives.__doc__`, with or without buffering."""

    t_s: int = 1000
    t_w: int = 1
    c: int = 0
    eager_limit: int = 0
    """Bytes up to which a message does not wait for its receive; 0 is the model of the claims."""
    carrier: str = ""
    """One of the machine's carriers; the first if empty."""
    late: int = -1
    """The rank that comes to the call last, after the others, one after the other; -1 if all come at once."""

    def __str__(self) -> str:
        costs = f"t_s = {self.t_s}, t_w = {self.t_w}" + (f", c = {self.c}" if self.c else "")
        buffered = f"up to {self.eager_limit} bytes buffered" if self.eager_limit else "nothing buffered"
        late = [f"ranks come one after the other, rank {self.late} last"] if self.late >= 0 else []
        return ", ".join([costs, buffered, *late, *([f"on {self.carrier}"] if self.carrier else [])])


class Message(NamedTuple):
    """One transfer that took place."""

    source: int
    dest: int
    nbytes: int
    start: float
    end: float


@dataclass(frozen=True)
class Failure:
    """Why a run did not come to its end.

    Attributes
    ----------
    kind
        "deadlock", "livelock", "endless" (it takes far too long) or "error" (a rank raised).
    report
        The machine's own words, in lines.
    rank, error
        Who raised first, and what.
    """

    kind: str
    report: str = ""
    rank: int | None = None
    error: BaseException | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a run; ranks of two groups are numbered through, those of A first."""

    time: Any = 0
    messages: Sequence[int] = ()
    """Sent, by rank."""
    sent: Sequence[int] = ()
    """Bytes sent, by rank."""
    left: Sequence[str] = ()
    """What was sent and never received, or awaited and never sent, in words."""
    transfers: Sequence[Message] = field(default=(), repr=False)
    """In the order in which they began, if they were asked for."""
    failure: Failure | None = None


class Machine(Protocol):
    """Something that runs programs on virtual or real ranks, exactly in the model. Taken and given back by `with`."""

    @property
    def MPI(self) -> Any:
        """The mpi4py-shaped module that ops come from."""

    @property
    def carriers(self) -> Sequence[str]:
        """What ranks can run on."""

    def __enter__(self) -> object: ...
    def __exit__(self, *error: Any) -> object: ...

    def run(self, program: Callable[..., Any], p: int, q: int, setting: Setting, trace: bool = False) -> Outcome:
        """Call `program(comm)` on p ranks; or, if q is not 0, `program(inter, local, in_a)` on groups of p and q.

        A program that fails is an outcome; nothing is raised for it.
        """

    def compute(self, seconds: int) -> None:
        """Let the calling rank compute."""


class NoMachine(LookupError):
    """There is nothing to run an algorithm on; the message says what to do."""


def found_machine() -> Machine:
    """The machine that an installed package offers; of several, the first by name."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        machine: Machine = entry.load()()
        return machine
    raise NoMachine(
        "verify needs a machine to run algorithms on, and no installed package offers one (the entry-point group "
        f"{GROUP!r}): install fakempi, or hand one over: verify(algorithm, machine=fakempi.laboratory.Emulator())."
    )
