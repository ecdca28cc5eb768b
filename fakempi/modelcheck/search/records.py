"""Records of runs: all information about a run that the search needs, as plain data.

The tree is updated from the record of a run, so the run may take place in any process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fakempi.modelcheck.search.equivalence import equivalent, is_distinguished
from fakempi.modelcheck.search.exploration import failure_key
from fakempi.modelcheck.search.outcomes import PickledOutcome
from fakempi.modelcheck.search.rank_output import RankOutput
from fakempi.modelcheck.search.shared_objects import CHANGED, SharedObjects
from fakempi.modelcheck.search.tree import EMPTY_MAP
from fakempi.modelcheck.search.trial import TrialRun
from fakempi.modelcheck.steering.choices import Choices, Option
from fakempi.modelcheck.steering.state_hash import Event, StateHash, digest, encoded_keys
from fakempi.modelcheck.steering.token import LibraryMode, write

TIMED, CLOCK = "the effect of other message times", "the value that a rank reads from its clock"
"""Parts of a run that are not explored: what depends on times."""


class StepRecord(NamedTuple):
    """A choice.

    Attributes
    ----------
    options : the number of options
    taken_index, key, past : the index, the key and the causal past of the option taken
    has_blocked_value : whether its point had a value that it could not take yet; see `Point.has_blocked_value`
    late : the causal past of each value that arrived after the choice and could have been taken; None if it is unknown
    influence : the processes that the choice may have influenced, one bit for each
    """

    options: int
    taken_index: int
    key: Any
    past: int
    has_blocked_value: bool
    late: Sequence[int | None]
    influence: int


class NewChoice(NamedTuple):
    """A choice that the tree does not contain yet, after the end of the path that the run followed.

    Attributes
    ----------
    keys : the keys of its options
    excluded : the options that a search may not take; see `Choices.excluded`
    equivalent : option -> options that receive equivalent messages
    state : the digest of the state; None if states are not compared
    """

    keys: list[Any]
    excluded: dict[int, float]
    equivalent: Mapping[int, list[int]] = EMPTY_MAP
    state: int | None = None


class SearchChoices(Choices):
    """Choices of a run of the search; they can describe a choice to the tree."""

    continues_after_failure = True

    def __init__(self, mode: LibraryMode, polls: int, hashes_states: bool) -> None:
        super().__init__(mode)
        self.polls = polls
        if hashes_states:
            self.state_hash = StateHash()

    def describe(
        self, options: list[Option], keys: list[Any], shared: SharedObjects | None, output: RankOutput
    ) -> NewChoice:
        """Return a description of the current choice; record whether objects that ranks share have changed."""
        if shared is not None and shared.changed():
            self.untracked_effects.add(CHANGED)
        # a forced "not yet": there is no choice, and there may be thousands of them
        polls = len(keys) == 1 and self.fair.turns
        state = None if polls else self.state()
        if state is not None:
            excluded = encoded_keys(keys[i] for i in self.excluded)
            state = digest(state, encoded_keys(keys), excluded, output.state())
        return NewChoice(keys, self.excluded, equivalent(options) or EMPTY_MAP, state)


@dataclass
class RunRecord:
    """A run, as plain data.

    Attributes
    ----------
    distinguished : (step, other option) for each pair of equivalent messages that the program distinguishes
    events, unknown : those of the state hash (`StateHash`); None and empty if states are not compared
    failure : the key of the error; None if the run succeeded
    pending : whether there were nonblocking calls with buffers
    """

    mode: LibraryMode
    steps: list[StepRecord]
    at_failure: int | None
    ended_early: bool
    cut_off: bool
    failure: Any
    sizes: set[int]
    early: list[tuple[str, str]]
    pending: bool
    unexplored: set[str]
    untracked_effects: set[str]
    unstable_names: bool
    distinguished: list[tuple[int, int]] = field(default_factory=list)
    events: list[tuple[int, Event]] | None = None
    unknown: set[str] = field(default_factory=set)

    @property
    def decisions(self) -> list[int]:
        """The choices with several options, up to the first failure of a rank."""
        return [step.taken_index for step in self.steps[: self.at_failure] if step.options > 1]

    @property
    def token(self) -> str:
        """The schedule as text."""
        return write(self.mode, self.decisions)

    @property
    def influence(self) -> list[tuple[Any, int]]:
        """Each point of the run with the processes that it may have influenced."""
        return [(step.key[0], step.influence) for step in self.steps]


class Attempt(NamedTuple):
    """A run of the search: its record, and either the run itself or, if it took place on a worker, its outcome."""

    record: RunRecord
    trial: TrialRun | None = None
    outcome: PickledOutcome | None = None


def record_of(trial: TrialRun, pairs: Mapping[int, Sequence[int]] = EMPTY_MAP, races: bool = False) -> RunRecord:
    """Return the record of a run.

    `pairs` maps steps to the options with messages equivalent to the one received. With `races`, values that arrived
    too late are recorded for every step with several options.
    """
    choices = trial.choices
    whole = not (trial.ended_early or trial.cut_off)
    distinguished = [
        (k, other)
        for k, others in pairs.items()
        for other in others
        if not whole or is_distinguished(choices, choices.steps[k], other)
    ]
    hashed = choices.state_hash
    return RunRecord(
        choices.mode, _steps(choices, races and not trial.cut_off), choices.at_failure, trial.ended_early, trial.cut_off,
        None if trial.error is None else failure_key(trial.error), choices.sizes, list(choices.early),
        bool(choices.pending_buffers),
        choices.unexplored | _times(choices), choices.untracked_effects, choices.unstable_names, distinguished,
        None if hashed is None else hashed.events, set() if hashed is None else hashed.unknown,
    )  # fmt: skip


def _steps(choices: Choices, races: bool) -> list[StepRecord]:
    steps = []
    for k, (options, taken_index, past, has_blocked_value) in enumerate(choices.steps):
        taken = options[taken_index]
        late = list(taken.point.late()) if races and len(options) > 1 and not has_blocked_value else []
        reached = -1  # all processes
        if not choices.hidden_channels:
            reached = sum(1 << p for p, mask in enumerate(choices.reached) if mask >> k & 1)
        steps.append(StepRecord(len(options), taken_index, taken.key, past, has_blocked_value, late, reached))
    return steps


def _times(choices: Choices) -> set[str]:
    """Return the parts of a run that depend on times, which are not explored."""
    if choices.timed:
        return {TIMED}
    if choices.universe is not None and choices.universe.clock_reads and choices.loop.now:
        return {CLOCK}
    return set()
