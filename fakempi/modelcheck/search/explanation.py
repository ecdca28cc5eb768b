"""Explanation of a failure: a minimal set of deviations that fails, and the choice that decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from fakempi.core.reports.findings import Ledger
from fakempi.core.reports.ranks import Names
from fakempi.errors import DeadlockError, OutcomesDifferError
from fakempi.errors.records import Finding
from fakempi.modelcheck.search.exploration import Exploration, Failure, failure_key
from fakempi.modelcheck.search.trial import TrialRun
from fakempi.modelcheck.steering.choices import Choices, ChoiceStep, Option
from fakempi.modelcheck.steering.token import LibraryMode, write

MAX_TRIES = 100
"""The maximum number of runs spent on one failure."""

MAX_NAMED = 3
"""The maximum number of collective calls that a sentence names."""

Decided = tuple[LibraryMode, tuple[int, ...]]
"""A schedule: its mode and its decisions."""


class LenientReplay(Choices):
    """Follow decisions as far as they apply; replace a decision that is out of range by the first option."""

    continues_after_failure = True

    def __init__(self, mode: LibraryMode, decisions: Sequence[int]) -> None:
        super().__init__(mode)
        self.remaining = list(decisions)

    def chosen(self, options: list[Option]) -> int | None:
        """Return the next decision, or the first option."""
        if len(options) == 1 or not self.remaining:
            return 0
        index = self.remaining.pop(0)
        return index if index < len(options) else 0


def explain(
    failure: Failure, trial: TrialRun, good: Sequence[Decided], exploration: Exploration, run: Callable[..., Any]
) -> None:
    """Minimize a failure, and set the sentence that names the deciding choice."""
    failure.rerun = run
    kind, mode = failure_key(failure.error), trial.choices.mode
    if not isinstance(failure.error, OutcomesDifferError):
        trial = shrunk(trial, kind, run)
        assert trial.error is not None
        failure.error, failure.schedule = trial.error, trial.token
    steps = [step for step in trial.choices.steps[: trial.choices.at_failure] if len(step.options) > 1]
    mine = tuple(trial.decisions)
    if mode.synchronizing and not isinstance(failure.error, OutcomesDifferError):
        other = TrialRun(LenientReplay(mode._replace(synchronizing=False), mine), run)
        if other.error is None or failure_key(other.error) != kind:
            failure.why = _returns_early(trial)
            failure.passes = None if other.error is not None else other.token
            return
    if mode.late and not isinstance(failure.error, OutcomesDifferError):
        other = TrialRun(LenientReplay(mode._replace(late=False), mine), run)
        if other.error is None or failure_key(other.error) != kind:
            failure.why = _uses_pending_buffer(trial)
            failure.passes = None if other.error is not None else other.token
            return
    for i in (i for i in reversed(range(len(mine))) if mine[i] and not isinstance(failure.error, OutcomesDifferError)):
        other = TrialRun(LenientReplay(mode, mine[:i]), run)
        if other.error is None:
            failure.passes = other.token
            failure.why = _sentence(steps[i], other.decisions[i] if i < len(other.decisions) else 0) + _by_size(mode)
            return
    ways = ((-_common(mine, way), sum(map(bool, way)), way) for kind_of, way in good if kind_of == mode)
    near = min(ways, default=None)
    if near is not None and -near[0] < min(len(mine), len(near[2])):
        at, way = -near[0], near[2]
        failure.passes = write(mode, way)
        failure.why = _sentence(steps[at], way[at]) + _by_size(mode)
    elif near is None and good:
        other_mode, way = min(good, key=lambda schedule: _distance(mode, schedule[0]))
        failure.why = f"with {mode.buffering} buffering {_rules(mode)}; {_mode_text(mode, other_mode)} the run succeeds"
        failure.passes = write(other_mode, way)
        if mode.limit < other_mode.limit and isinstance(failure.error, DeadlockError):
            failure.error.findings = [*failure.error.findings, *_unsafe_sends(failure.error)]
            failure.why += " (unsafe-send)"
    elif not good:
        failure.why = f"none of {exploration.runs:,} schedules succeeds"


def _distance(mode: LibraryMode, other: LibraryMode) -> tuple[int, bool, int]:
    """Return a sort key of modes that explain a failure: first modes that buffer more, then those with the closest limit."""
    differs = (mode.synchronizing != other.synchronizing) + (mode.late != other.late)
    return differs, other.limit < mode.limit, abs(mode.limit - other.limit)


def _rules(mode: LibraryMode) -> str:
    barriers, late = " and each collective call is a barrier" * mode.synchronizing, " and data move late" * mode.late
    return f"{mode.sends}{barriers}{late}"


def _by_size(mode: LibraryMode) -> str:
    """Return a reminder of the size limit, in parentheses; empty in other modes, which need none."""
    return f" ({mode.sends})" if mode.buffering == "size" else ""


def _mode_text(mode: LibraryMode, other: LibraryMode) -> str:
    """Return a description of the successful mode by its difference from the failing one."""
    if other.limit != mode.limit:
        return f"with {other.buffering} buffering"
    return f"if {_rules(other)}"


def _listed(calls: Iterable[tuple[str, str]], more: int) -> str:
    """Return calls and their lines as text; `more` is the number of calls after the first `MAX_NAMED`."""
    named = [f"{call} at {place}" for call, place in calls] + ["others"] * (more > 0)
    *first, last = named or ["a call"]
    return f"{', '.join(first)}{' and ' * bool(first)}{last}"


def _uses_pending_buffer(trial: TrialRun) -> str:
    """Explain a failure that occurs only if data move late: name the nonblocking calls."""
    calls = list(trial.choices.pending_buffers)
    return (
        f"the program relies on the buffer of {_listed(calls[:MAX_NAMED], len(calls) - MAX_NAMED)} before the call that "
        "completes it; MPI allows data to move at any time until then, and when data move early this does not happen"
    )


def _returns_early(trial: TrialRun) -> str:
    """Explain a failure that occurs only if collective calls synchronize: name the calls that ranks must leave early."""
    calls = list(trial.choices.early)
    if isinstance(trial.error, DeadlockError):
        blocked = {(one.call, one.place) for one in trial.error.blocked}
        calls = [one for one in calls if one in blocked] or calls
    named = _listed(calls[:MAX_NAMED], len(calls) - MAX_NAMED)
    return (
        f"the program relies on {named} completing before all ranks have called it; MPI allows every "
        "collective call to synchronize, and without synchronizing collectives this does not happen"
    )


def _unsafe_sends(error: DeadlockError) -> list[Finding]:
    """Return findings for the sends that are blocked in a deadlock without buffering."""
    ledger = Ledger(Names())
    for record in error.blocked:
        if any(event.kind == "send" for event in record.events):
            ledger.add("unsafe-send", record.rank, record.call, record.place, "does not complete without buffering")
    return ledger.findings()


def shrunk(trial: TrialRun, kind: Any, run: Callable[[Choices], Any]) -> TrialRun:
    """Return a run that fails in the same way, with a minimal set of deviations: none of them can be removed."""
    tries = MAX_TRIES
    while tries:
        for decisions in _simpler(trial.decisions):
            tries -= 1
            other = TrialRun(LenientReplay(trial.choices.mode, decisions), run)
            if other.error is not None and failure_key(other.error) == kind and _size(other) < _size(trial):
                trial = other
                break
            if not tries:
                break
        else:
            break
    return trial


def _size(trial: TrialRun) -> tuple[int, int, int]:
    return sum(map(bool, trial.decisions)), len(trial.decisions), sum(trial.decisions)


def _simpler(decisions: list[int]) -> Iterator[list[int]]:
    yield []
    for i, decision in enumerate(decisions):
        if decision:
            yield [*decisions[:i], 0, *decisions[i + 1 :]]
            yield decisions[:i]
    for i, decision in enumerate(decisions):
        if decision > 1:
            yield [*decisions[:i], 1, *decisions[i + 1 :]]


def _common(first: Sequence[int], other: Sequence[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), min(len(first), len(other)))


def _sentence(step: ChoiceStep, other: int) -> str:
    """Return a sentence: `rank 0's recv at q.py:12 took rank 2's message; with rank 1's message the run
    succeeds`."""
    taken, instead = step.taken, step.options[other]
    if instead.point is not taken.point:
        return f"{taken.describe()} before {instead.describe()}; in the other order the run succeeds"
    verb, obj = taken.point.describe(instead.value)
    mine = taken.point.describe(taken.value)
    if mine[0] == verb:
        return f"{taken.describe()}; with {obj} the run succeeds"
    return f"{taken.describe()}; when it {verb} {obj} the run succeeds"
