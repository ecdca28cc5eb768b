"""Why a schedule fails: the fewest deviations that still do, and the choice without which all goes well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fakempi.checks.findings import Finding, Ledger
from fakempi.checks.ranks import Names
from fakempi.choices.choices import Choices, Option, Step
from fakempi.choices.token import write
from fakempi.errors import DeadlockError, OutcomesDiffer
from fakempi.exploring.found import Failure, Found, same
from fakempi.exploring.search import Trial

TRIES = 100
"""Runs that are spent on one failure, at most."""

_WAITS, _WAITS_NOT = "every send waits for its receive", "no send waits for its receive"

Way = tuple[str, tuple[int, ...]]
"""A buffering, and decisions."""


class Following(Choices):
    """Follows decisions as far as they fit: what is not there is the first of what is."""

    goes_on = True

    def __init__(self, buffering: str, decisions: Sequence[int]) -> None:
        super().__init__(buffering)
        self.left = list(decisions)

    def chosen(self, options: list[Option]) -> int | None:
        """As said, or the first."""
        if len(options) == 1 or not self.left:
            return 0
        index = self.left.pop(0)
        return index if index < len(options) else 0


def explain(failure: Failure, trial: Trial, good: Sequence[Way], found: Found, one: Callable[..., Any]) -> None:
    """Shrink a failure, and say what made the difference."""
    failure.again = one
    kind, buffering = same(failure.error), trial.choices.buffering
    if not isinstance(failure.error, OutcomesDiffer):
        trial = shrunk(trial, kind, one)
        assert trial.error is not None
        failure.error, failure.decisions = trial.error, trial.token
    steps = [step for step in trial.choices.steps[: trial.choices.at_failure] if len(step.options) > 1]
    mine = tuple(trial.decisions)
    for i in (i for i in reversed(range(len(mine))) if mine[i] and not isinstance(failure.error, OutcomesDiffer)):
        other = Trial(Following(buffering, mine[:i]), one)
        if other.error is None:
            failure.passes = other.token
            failure.why = _sentence(steps[i], other.decisions[i] if i < len(other.decisions) else 0)
            return
    ways = ((-_common(mine, way), sum(map(bool, way)), way) for kind_of, way in good if kind_of == buffering)
    near = min(ways, default=None)
    if near is not None and -near[0] < min(len(mine), len(near[2])):
        at, way = -near[0], near[2]
        failure.passes = write(buffering, way)
        failure.why = _sentence(steps[at], way[at])
    elif near is None and good:
        how, others = (_WAITS, "infinite") if buffering == "zero" else (_WAITS_NOT, "zero")
        failure.why = f"in {buffering} buffering, where {how}; in {others} buffering all went well"
        failure.passes = write(*good[0])
        if buffering == "zero" and isinstance(failure.error, DeadlockError):
            failure.error.findings = [*failure.error.findings, *_unsafe_sends(failure.error)]
            failure.why += " (unsafe-send)"
    elif not good:
        failure.why = f"no schedule of {found.runs:,} went well"


def _unsafe_sends(error: DeadlockError) -> list[Finding]:
    """Of a program that ends if sends are buffered: those that wait here."""
    ledger = Ledger(Names())
    for one in error.stuck:
        if any(want.kind == "send" for want in one.wants):
            ledger.add("unsafe-send", one.rank, one.call, one.site, "waits for ever where nothing is buffered")
    return ledger.findings()


def shrunk(trial: Trial, kind: Any, one: Callable[[Choices], Any]) -> Trial:
    """A run that fails in the same way, with deviations of which none can be left out."""
    tries = TRIES
    while tries:
        for decisions in _simpler(trial.decisions):
            tries -= 1
            other = Trial(Following(trial.choices.buffering, decisions), one)
            if other.error is not None and same(other.error) == kind and _size(other) < _size(trial):
                trial = other
                break
            if not tries:
                break
        else:
            break
    return trial


def _size(trial: Trial) -> tuple[int, int, int]:
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


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _sentence(step: Step, other: int) -> str:
    """`rank 0's recv at q.py:12 took rank 2's message; with rank 1's all went well`."""
    taken, instead = step.taken, step.options[other]
    if instead.point is not taken.point:
        return f"{taken.words()} before {instead.words()}; the other way round all went well"
    did, what = taken.point.words(instead.value)
    mine = taken.point.words(taken.value)
    if mine[0] == did:
        short = what.replace("'s message", "'s") if what.replace("'s message", "'s") != what else what
        return f"{taken.words()}; with {short} all went well"
    return f"{taken.words()}; when it {did} {what} all went well"
