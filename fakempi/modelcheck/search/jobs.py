"""Runs on workers: a job is a schedule to run, and its result is the record of the run.

A worker does not have the search tree. It follows the path of the job, and then continues as the search would: with the
first option that is not in the sleep set, up to a state that it assumes to be known. `Tree.replay` compares each of these
choices with the tree. A wrong assumption costs time and changes no result.
"""

from __future__ import annotations

import os
import pickle
from array import array
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple, cast
from uuid import uuid4

from fakempi.core.arguments import RunOptions
from fakempi.core.network.cost import CostModel
from fakempi.core.reports.suppression_rules import Suppression
from fakempi.core.world import run_with
from fakempi.modelcheck.search.outcomes import OutcomeComparison, PickledOutcome
from fakempi.modelcheck.search.random_choices import RandomChoices
from fakempi.modelcheck.search.rank_output import discarded_output
from fakempi.modelcheck.search.records import NewChoice, RunRecord, SearchChoices, record_of
from fakempi.modelcheck.search.shared_objects import CHANGED, SharedObjects
from fakempi.modelcheck.search.tree import EMPTY_SET
from fakempi.modelcheck.search.trial import StopRun, TrialRun
from fakempi.modelcheck.steering.choices import POLL_BOUND, Choices, Option
from fakempi.modelcheck.steering.state_hash import digest
from fakempi.modelcheck.steering.token import LibraryMode

_IMPORTED = uuid4().hex
MAX_PROGRAMS = 2
"""Programs that a worker keeps between jobs."""


class SearchJob(NamedTuple):
    """A schedule to run: along a path of a mode's tree, or at random from a seed.

    Attributes
    ----------
    path : the index of the option at each choice
    asleep : the sleep set at the end of the path
    pairs : by step of the path, the options with messages equivalent to the one received
    """

    mode: LibraryMode
    polls: int = POLL_BOUND
    reduce: bool = False
    hashes_states: bool = False
    path: tuple[int, ...] = ()
    asleep: frozenset[Any] = EMPTY_SET
    pairs: Mapping[int, Sequence[int]] = {}
    seed: str | None = None


class JobResult(NamedTuple):
    """The record of a job's run, the digest of the options along its path, and the choices after the path.

    `late_candidates` has an entry for each of these choices: the values that may be too late for the choice before it.
    """

    record: RunRecord
    path_digest: int
    new: list[NewChoice]
    late_candidates: list[Any]
    outcome: PickledOutcome | None
    suppressions: frozenset[Suppression] = frozenset()  # that have suppressed a finding


class ExploredProgram(NamedTuple):
    """The program of a search, and the options of its runs."""

    main: Any
    nprocs: int
    args: tuple[Any, ...]
    options: RunOptions

    def run(self, choices: Choices, trace: bool = False, cost: CostModel | None = None) -> Any:
        """Run the program with these choices, and with a cost model if the search has none."""
        options = self.options.steered(choices, trace, cost)
        return run_with(options, self.main, self.nprocs, self.args)


class SentProgram(NamedTuple):
    """The parts of a search that a worker needs."""

    program: ExploredProgram
    compare: tuple[str, ...]
    compares_shared: bool


class Chunk(NamedTuple):
    """Jobs of one search and one mode. `states` has digests of known states, see `known_state`."""

    sender: tuple[str, int]
    search: str
    program: bytes
    states: bytes
    jobs: list[SearchJob]


def this_process() -> tuple[str, int]:
    """Return an identification of this process: that of the loaded module, which forked processes share, and the pid."""
    return _IMPORTED, os.getpid()


def known_state(state: int, asleep: frozenset[Any]) -> int:
    """Return 64 bits that identify a state and a sleep set."""
    return (digest(state, asleep) if asleep else state) & 0xFFFF_FFFF_FFFF_FFFF


class JobChoices(SearchChoices):
    """Follow the path of a job; then take the first option outside the sleep set, up to a state that is probably known."""

    def __init__(self, job: SearchJob, program: LoadedProgram) -> None:
        super().__init__(job.mode, job.polls, job.hashes_states)
        self.job, self.program, self.asleep = job, program, job.asleep
        self.at = self.path_digest = 0
        self.new: list[NewChoice] = []
        self.late_candidates: list[Any] = []
        self.states: list[int] = []
        self.left_path = False

    def chosen(self, options: list[Option]) -> int | None:
        """Return the next option of the path, or of the continuation."""
        keys = [option.key for option in options]
        if self.at < len(self.job.path):
            self.path_digest = digest(self.path_digest, tuple(keys))
            index: int | None = self.job.path[self.at]
            if index is not None and index >= len(options):
                self.left_path, index = True, None
        else:
            self.late_candidates.append(self.steps[-1].taken.point.late_candidates() if self.steps else True)
            index = self._next(options, keys)
        if index is None:
            self.universe.end(StopRun())
            return None
        self.at += 1
        return index

    def _next(self, options: list[Option], keys: list[Any]) -> int | None:
        asleep = self.asleep
        index = next((i for i, key in enumerate(keys) if key not in asleep and i not in self.excluded), None)
        if index is None or not self.job.reduce:
            self.new.append(NewChoice(keys, self.excluded))
            return index
        choice = self.describe(options, keys, self.program.shared, self.program.outcomes.output)
        self.new.append(choice)
        if CHANGED in self.untracked_effects:
            return None
        if choice.state is not None:
            names = {known_state(choice.state, EMPTY_SET), known_state(choice.state, asleep)}
            if self.at and not names.isdisjoint(self.program.known(self.mode)):
                return None
            self.states.append(known_state(choice.state, asleep))
        self.asleep = frozenset(key for key in asleep if key[0] != keys[index][0]) or EMPTY_SET
        return index


class LoadedProgram:
    """A program on a worker, the states that are known, and the objects that its ranks share."""

    def __init__(self, data: bytes) -> None:
        self.program, self.compare, compares_shared = cast(SentProgram, pickle.loads(data))
        self.outcomes = OutcomeComparison(self.compare)
        self.shared = SharedObjects(self.program.main, self.program.args) if compares_shared else None
        self._known_states: dict[LibraryMode, set[int]] = {}

    def known(self, mode: LibraryMode) -> set[int]:
        """Return the known states of a mode."""
        return self._known_states.setdefault(mode, set())

    def run(self, choices: Choices) -> Any:
        """Run the program once."""
        program = self.program
        self.outcomes.output.begin()
        return program.run(choices)

    def used(self) -> frozenset[Suppression]:
        """Return the suppressions that have suppressed a finding on this worker."""
        return frozenset(self.program.options.suppressions.used)

    def answer(self, job: SearchJob) -> JobResult | None:
        """Run a job; return None if the run must take place in the process of the search."""
        if self.shared is not None and self.shared.changed(ended=True):
            return None
        choices = RandomChoices(job.mode, job.seed) if job.seed is not None else JobChoices(job, self)
        with discarded_output(), self.outcomes.recorded():
            trial = TrialRun(choices, self.run)
        if self.shared is not None and self.shared.changed(ended=True):
            return None
        outcome = None
        if trial.result is not None and self.compare:
            returns = pickle.dumps(trial.result.returns if "returns" in self.compare else [])
            outcome = PickledOutcome(returns, self.outcomes.output.lines())
        if not isinstance(choices, JobChoices):
            return JobResult(record_of(trial), 0, [], [], outcome, self.used())
        if choices.left_path:
            return None
        reduces, pairs = job.reduce and not choices.untracked_effects, dict(job.pairs)
        for k, choice in enumerate(choices.new, len(job.path)):
            if k < len(choices.steps) and (others := choice.equivalent.get(choices.steps[k].taken_index)):
                pairs[k] = others
        record = record_of(trial, {k: pairs[k] for k in sorted(pairs) if k < len(choices.steps)} if reduces else {}, reduces)
        self.known(job.mode).update(choices.states)
        return JobResult(record, choices.path_digest, choices.new, choices.late_candidates, outcome, self.used())


_programs: dict[str, LoadedProgram] = {}
_lock = Lock()


def run_chunk(chunk: Chunk) -> list[JobResult | None] | str:
    """Run jobs on a worker; return an answer for each, or the reason why the worker cannot load the program.

    An answer is None if the run must take place in the process of the search; for example, if it raises an exception that is
    not a result of the program.
    """
    if chunk.sender == this_process():  # a thread: runs in threads of one process would share objects and output
        return [None] * len(chunk.jobs)
    with _lock:  # Dask's workers may have several threads
        return _run_chunk(chunk)


def _run_chunk(chunk: Chunk) -> list[JobResult | None] | str:
    program = _programs.get(chunk.search)
    if program is None:
        try:
            program = LoadedProgram(chunk.program)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        while len(_programs) >= MAX_PROGRAMS:
            del _programs[next(iter(_programs))]
        _programs[chunk.search] = program
    if chunk.jobs:
        program.known(chunk.jobs[0].mode).update(array("Q", chunk.states))
    return [_attempted(program, job) for job in chunk.jobs]


def _attempted(program: LoadedProgram, job: SearchJob) -> JobResult | None:
    try:
        return program.answer(job)
    except Exception:
        return None


def packed_states(states: Iterable[tuple[int, frozenset[Any]]]) -> bytes:
    """Return the identifications of states as bytes."""
    return array("Q", [known_state(state, asleep) for state, asleep in states]).tobytes()
