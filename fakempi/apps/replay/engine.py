"""Run a recording on the emulator, and return its modeled times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fakempi.apps.replay.callers import callers
from fakempi.apps.replay.program import RankReplay, SharedReplay, memberships
from fakempi.apps.replay.sites import SiteTime, SiteTimes
from fakempi.core.network.cost import CostModel
from fakempi.core.world import run
from fakempi.errors import DeadlockError, MPIError, RankError
from fakempi.errors.plurals import counted
from fakempi.errors.recordings import RecordingError
from fakempi.recordings.events import ANY, COLLECTIVE, END, KIND_NAMES, OPERATIONS, SENDRECV, WAIT
from fakempi.recordings.recording import Recording
from fakempi.trace import record

MAX_BLOCKED = 8
"""Blocked ranks that a message lists."""


@dataclass(frozen=True)
class ReplayOutcome:
    """The result of a replay.

    Attributes
    ----------
    seconds
        The modeled makespan.
    clocks
        The time at which each rank ends.
    computing
        The computing time of all ranks together, with the scale applied.
    messages, nbytes
        All messages, with those of collective algorithms, and their bytes.
    sites
        The collective calls by call site, those with the longest time first.
    unmatched
        Messages that no rank receives.
    trace
        The trace if it was requested.
    """

    seconds: float
    clocks: Sequence[float]
    computing: float
    messages: int
    nbytes: int
    sites: Sequence[SiteTime]
    unmatched: int = 0
    trace: record.Trace | None = None

    def share(self, seconds: float) -> float:
        """Return the part of the time of all ranks, from 0 to 1, that a time of all ranks is."""
        total = self.seconds * len(self.clocks)
        return seconds / total if total else 0.0


def replay(
    recording: Recording,
    cost: CostModel | str | None = None,
    algorithms: Any = None,
    *,
    scale: float = 1.0,
    trace: bool = False,
    advance: Callable[[int], None] = lambda events: None,
) -> ReplayOutcome:
    """Replay a recording.

    Parameters
    ----------
    recording
        The recorded run.
    cost, algorithms
        As for `fakempi.run`.
    scale
        How much faster than in the recorded run the ranks compute.
    trace
        Whether to return a trace.
    advance
        Receives numbers of events that are executed next, for a display of the progress.

    Raises
    ------
    RecordingError
        If an algorithm does not fit a call, or the replay deadlocks: messages are missing, or a send that was buffered in
        the recorded run waits here.
    """
    times, ranks = SiteTimes(recording.sites), dict[int, RankReplay]()
    calls_from = callers(recording.sites, recording.source)
    shared = SharedReplay(recording, times, calls_from, scale, advance, memberships(recording))

    def program(comm: Any) -> None:
        rank = ranks[comm.rank] = RankReplay(shared, comm.rank)
        rank.run(comm)

    try:
        result = run(program, recording.ranks, cost=cost, algorithms=algorithms, trace=trace)
    except DeadlockError as error:
        raise RecordingError(_deadlock(recording, ranks, error), recording.source) from None
    except RankError as error:
        if not isinstance(error.exception, MPIError):
            raise
        where = f"rank {error.rank}, {describe(recording, error.rank, ranks[error.rank].position)}"
        raise RecordingError(f"{where}: {error.exception}", recording.source) from error
    return ReplayOutcome(
        float(result.time),
        [float(clock) for clock in result.clocks],
        sum(rank.computed for rank in ranks.values()),
        result.messages,
        result.bytes,
        times.by_time(),
        sum(finding.times for finding in result.findings if finding.kind == "message-lost"),
        result.trace,
    )


def _deadlock(recording: Recording, ranks: dict[int, RankReplay], error: DeadlockError) -> str:
    """Return the text about a deadlock: the event of each blocked rank."""
    blocked = sorted({each.rank for each in error.blocked})
    lines = [f"rank {rank}: {describe(recording, rank, ranks[rank].position)}" for rank in blocked[:MAX_BLOCKED]]
    more = [f"and {len(blocked) - MAX_BLOCKED} more"] * (len(blocked) > MAX_BLOCKED)
    hint = (
        "A send that was buffered in the recorded run may wait for its receive here: try a larger eager_limit "
        "(--cost ...:eager_limit=1M). Otherwise the recording lacks calls."
    )
    return "\n  ".join([f"the replay deadlocks: {counted(len(blocked), 'rank')} blocked.", *lines, *more, hint])


def describe(recording: Recording, rank: int, index: int) -> str:
    """Describe an event for a message."""
    row = recording.events[rank][index]
    kind, site = int(row["kind"]), recording.sites[row["site"]]
    text = f"event {index:,}: {OPERATIONS[row['operation']] if kind == COLLECTIVE else KIND_NAMES[kind]}"
    if kind < SENDRECV:
        peer, tag = ("any" if row[name] == ANY else str(row[name]) for name in ("peer", "tag"))
        text += f", {row['nbytes']:,} bytes, other side {peer}, tag {tag}"
    elif kind == WAIT:
        text += f" for {counted(int(row['count']), 'request')}"
    if kind not in (WAIT, END) and row["comm"]:
        text += f", communicator {row['comm']}"
    return f"{text} at {site}" if site else text
