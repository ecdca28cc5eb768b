"""Records that exceptions of a run carry: findings, blocked ranks, and the interface of a trace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Finding:
    """An error in a program that did not stop the run.

    Attributes
    ----------
    kind
        The name of the kind; `fakempi explain KIND` explains it.
    ranks
        The ranks that made the error.
    call, place
        The call, and its line: "work.py:17".
    note
        Whether it may be intended, or reports that a check was incomplete, so that it never causes a failure.
    sentence
        The description of the problem.
    rank_names
        The ranks as text.
    times
        The number of occurrences.
    suppressed
        Where and why the finding is suppressed; empty if it is not.

    Examples
    --------
    >>> import fakempi
    >>> [finding] = fakempi.run(lambda comm: comm.send(1, 1) if comm.rank == 0 else None, 2).findings
    >>> finding.kind, finding.ranks
    ('message-lost', (0,))
    """

    kind: str
    ranks: tuple[int, ...]
    call: str
    place: str
    note: bool
    sentence: str
    rank_names: str
    times: int = 1
    suppressed: str = ""

    def __str__(self) -> str:
        suppressed = f"suppressed ({self.suppressed}): " if self.suppressed else ""
        often = f" ({self.times:,} times)" if self.times > len(self.ranks) else ""
        place = "" if self.place in ("", "?") else f" at {self.place}"
        return f"{suppressed}{self.kind}: {self.rank_names}: {self.call}{place}: {self.sentence}{often}"

    def as_record(self) -> dict[str, object]:
        """Return the finding as plain values, for JSON."""
        return {
            "kind": self.kind, "ranks": list(self.ranks), "call": self.call, "place": self.place, "note": self.note,
            "sentence": self.sentence, "times": self.times, **({"suppressed": self.suppressed} if self.suppressed else {}),
        }  # fmt: skip


@dataclass(frozen=True)
class AwaitedEvent:
    """An event for which a rank waits: a message, its receive, other ranks in a collective call, or something else."""

    kind: str  # "receive", "send", "collective", "other"
    peer: int | None = None  # a rank of the communicator; None: any
    tag: int | None = None
    nbytes: int = 0
    size: int = 0  # of the communicator, for neighbors modulo size
    where: str = ""  # the communicator, unless it is the world; for "other", the event
    awaits: tuple[int, ...] = ()  # numbers of processes; if `peer` is None, any of them could cause the event
    peer_written: str = ""  # the peer as an expression of the program, if it is known and no number
    tag_written: str = ""


@dataclass(frozen=True)
class BlockedRank:
    """A blocked process: its call, the line of the call, the time at which it began to wait, and the events it waits for."""

    rank: int  # the number of the process: its rank, unless it was spawned
    call: str
    place: str
    since: float
    events: tuple[AwaitedEvent, ...]
    any_suffices: bool = False  # one of the events is enough
    polls: bool = False  # it polls for them and does not block
    thread: str = ""  # the name of the thread, unless it is the process's main thread

    @property
    def site(self) -> str:
        """The earlier name of `place`."""
        return self.place


@dataclass(frozen=True)
class NearMiss:
    """A message that a blocked rank would have received if one property were different."""

    rank: int
    sender: int
    tag: int
    difference: str


class RecordedTrace(Protocol):
    """The public members of `fakempi.Trace`, which is defined above this package."""

    @property
    def ranks(self) -> int:
        """The number of ranks."""

    @property
    def time(self) -> float:
        """The time when the last rank ended."""

    @property
    def transfers(self) -> Sequence[Any]:
        """Every message, in the order of their starts."""

    @property
    def computes(self) -> Sequence[Any]:
        """Every interval in which a rank computes."""

    @property
    def regions(self) -> Sequence[Any]:
        """Every region, in the order in which they were recorded."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file."""

    def show(
        self,
        what: str | Sequence[str] = (),
        *,
        width: int | None = None,
        ranks: Sequence[int] | None = None,
        window: tuple[float, float] | None = None,
        console: Any = None,
    ) -> None:
        """Print views of the trace."""

    def measure(self) -> Any:
        """Return the measures of the run."""

    def _repr_html_(self) -> str | None:
        """Return the page in a frame, for notebooks."""
