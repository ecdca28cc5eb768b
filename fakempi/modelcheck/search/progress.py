"""A search in progress: the order of its trees, the results so far, and their summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from fakempi.errors import OutcomesDifferError
from fakempi.errors.plurals import counted
from fakempi.modelcheck.search.explanation import LenientReplay, explain
from fakempi.modelcheck.search.exploration import MAX_SUMMARIES, Exploration, Failure, ScheduleSummary, failure_key
from fakempi.modelcheck.search.jobs import JobResult, SearchJob
from fakempi.modelcheck.search.outcomes import OutcomeComparison
from fakempi.modelcheck.search.random_choices import RandomChoices
from fakempi.modelcheck.search.records import Attempt, RunRecord, record_of
from fakempi.modelcheck.search.scope import Scope
from fakempi.modelcheck.search.search import SearchTree
from fakempi.modelcheck.search.shared_objects import CHANGED
from fakempi.modelcheck.search.tree import Edge
from fakempi.modelcheck.search.trial import TrialRun
from fakempi.modelcheck.search.workers import UpcomingRun, Workers
from fakempi.modelcheck.steering.choices import POLL_BOUND
from fakempi.modelcheck.steering.fairness import MAX_AHEAD
from fakempi.modelcheck.steering.token import LibraryMode

MAX_POLL_BOUND = 16
"""The default maximum of the bound on polling: a loop that tests until a message arrives has infinitely many schedules."""

MAX_SUCCESSES, MAX_FAILURES = 1000, 50
"""The numbers of successful schedules and of different failures that are kept; the rest is only counted."""

SIMPLEST = "fewest deviations first"
"""The default description of how schedules are chosen. A deviation is a choice other than the first option."""


class Search:
    """A search in progress: one tree per mode, and the results so far."""

    def __init__(
        self, scope: Scope, new_tree: Callable[[LibraryMode], SearchTree], run: Callable[..., Any], stop: Any,
        outcomes: OutcomeComparison, on_run: Any,
    ) -> None:  # fmt: skip
        self.scope, self.new_tree, self.run, self.stop = scope, new_tree, run, stop
        self.outcomes, self.on_run = outcomes, on_run
        self.trees = [new_tree(mode) for mode in scope.modes()]
        self.mixes = False
        self.exploration = Exploration()
        self.known: dict[Any, tuple[Failure, TrialRun]] = {}
        self.successes: list[tuple[LibraryMode, tuple[int, ...]]] = []
        self.finished: list[SearchTree] = []
        self.tried = self.mixed = self.random_runs = 0
        self.stopped = False
        self.workers: Workers | None = None
        self.polls = POLL_BOUND  # the largest bound on polling that was explored completely

    @property
    def exhausted(self) -> bool:
        """Whether every tree has been explored completely."""
        return len(self.finished) == len(self.trees)

    def explore_trees(self, runs: int, until: float | None, reserved: int) -> None:
        """Explore the trees, fewest deviations first; reserve `reserved` runs of the budget if the trees are too large."""
        while not self.stopped and not self.exhausted:
            if self.tried >= runs or (until is not None and monotonic() >= until):
                return
            if self.tried >= runs - reserved and self.tried + sum(tree.remaining() for tree in self.trees) > runs:
                return
            tree = min((tree for tree in self.trees if tree not in self.finished), key=lambda candidate: candidate.next_rank)
            if self.workers is not None and self.tried and self.workers.is_due():
                self.workers.prefetch(self._upcoming(min(self.workers.ahead, runs - self.tried)))
            attempt = tree.trial()
            if attempt is None:
                self.finished.append(tree)
            else:
                self._record(attempt)

    def _upcoming(self, count: int) -> list[UpcomingRun]:
        """Return the next runs, according to the parts of the trees that are known now."""
        found = []
        for number, tree in enumerate(self.trees):
            if tree not in self.finished and not tree.is_shared:
                found += [(rank, number, i, edge) for i, (rank, edge) in enumerate(tree.upcoming(count))]
        found.sort(key=lambda item: item[:3])
        first = [(self.trees[number], edge) for _, number, _, edge in found[:count]]
        return [UpcomingRun(edge or tree, tree.job(edge), tree.states.order) for tree, edge in first]

    def use_workers(self, workers: Workers) -> None:
        """Run schedules on workers, and add their results to the trees."""
        self.workers = workers
        for tree in self.trees:
            tree.answered = self._answered

    def _answered(self, tree: SearchTree, edge: Edge | None) -> JobResult | None:
        if self.workers is None or tree.is_shared:
            return None
        return self.workers.take(edge or tree, tree.reduce, tree.merges, tree.polls)

    def suffices(self, answer: JobResult) -> bool:
        """Whether the record of a worker's run is sufficient. A new failure is repeated in this process, to explain it."""
        failure = answer.record.failure
        return failure is None or answer.record.ended_early or failure in self.known or len(self.known) >= MAX_FAILURES

    def bound_polls(self, polls: int) -> None:
        """Set how many times in a row a test may report "not yet" although another event is possible."""
        self.polls = polls
        for tree in self.trees:
            tree.polls = polls

    def deepen(self, runs: int, until: float | None) -> None:
        """Raise the bound on polling as long as all schedules within it were run and none failed."""
        while self.exhausted and not self.stopped and not self.exploration.failures and self.tried < runs:
            excluded = [tree for tree in self.trees if tree.poll_excluded]
            if not excluded:
                return
            least = min(node.excluded[index] for tree in excluded for node, index in tree.poll_excluded)
            polls = max(self.polls, int(least)) + 1
            if polls > MAX_POLL_BOUND:
                return
            for tree in excluded:
                tree.deepen(polls)
            self.finished = [tree for tree in self.trees if not tree.waiting]
            self.explore_trees(runs, until, 0)
            if not self.exhausted:
                self.finished = list(self.trees)  # these trees are exhausted within the reported bound
                return
            self.polls = polls

    def explore_by_mixing(self, runs: int, until: float | None, reserved: int) -> None:
        """Continue in another order: deviations that are close to each other first (bounded mixing, as in DAMPI)."""
        self.mixes = True
        for tree in self.trees:
            tree.mix()
        before = self.tried
        self.explore_trees(runs, until, reserved)
        self.mixed = self.tried - before

    def run_random_schedules(self, runs: int, until: float | None, seed: int) -> None:
        """Spend the rest of the budget on random schedules."""
        while not self.stopped and self.tried < runs and (until is None or monotonic() < until):
            modes = [tree.mode for tree in self.trees if tree not in self.finished]
            shared = any(tree.is_shared for tree in self.trees)
            workers = None if shared else self.workers
            if workers is not None and workers.is_due():
                numbers = range(self.random_runs, self.random_runs + min(workers.ahead, runs - self.tried))
                jobs = [SearchJob(modes[number % len(modes)], seed=f"{seed} {number + 1}") for number in numbers]
                workers.prefetch(UpcomingRun((job.mode, job.seed), job, ()) for job in jobs)
            mode, name = modes[self.random_runs % len(modes)], f"{seed} {self.random_runs + 1}"
            self.random_runs += 1
            answer = None if workers is None else workers.take((mode, name), False, False, POLL_BOUND)
            if answer is not None:
                self._record(Attempt(answer.record, None, answer.outcome))
            else:
                trial = TrialRun(RandomChoices(mode, name), self.run)
                self._record(Attempt(record_of(trial), trial))

    def _record(self, attempt: Attempt) -> None:
        record = attempt.record
        self.tried += 1
        if self.scope.widens(record):
            self._add_trees()
        if record.ended_early:
            self.exploration.ended_early += 1
            self._summarize(record, "merged")
        else:
            self.exploration.runs += 1
            trial = attempt.trial
            error, kind = None if trial is None else trial.error, record.failure
            if kind is None:
                error, trial = self._difference(attempt)
                kind = None if error is None else failure_key(error)
            self._summarize(record, "passes" if kind is None else "fails")
            if kind is not None:
                self._failed(kind, error, trial)
            elif len(self.successes) < MAX_SUCCESSES:
                self.successes.append((record.mode, tuple(record.decisions)))
            if attempt.trial is not None:
                attempt.trial.result = None
        if self.on_run is not None:
            self.on_run(self.exploration, sum(len(tree.waiting) for tree in self.trees))

    def _summarize(self, record: RunRecord, outcome: str) -> None:
        """Remember a run, if there is room."""
        summaries = self.exploration.summaries
        if len(summaries) < MAX_SUMMARIES * (2 if outcome == "fails" else 1):
            summaries.append(ScheduleSummary(str(record.mode), tuple(record.decisions), outcome, record.token))

    def _difference(self, attempt: Attempt) -> tuple[OutcomesDifferError | None, TrialRun | None]:
        """Return a difference from the first outcome, and the run; a worker's run with a new difference is repeated here."""
        record, trial, outcome = attempt
        outcomes = self.outcomes
        if not outcomes.compares:
            return None, trial
        returns = outcomes.decided_by(outcome)
        if trial is None and returns is None:
            trial = self._repeat(record)
            if trial.result is None:
                return None, trial
        if returns is None or outcome is None:
            assert trial is not None
            return outcomes.difference(record.token, trial.result.returns, outcomes.output.lines()), trial
        error = outcomes.difference(record.token, returns, outcome.lines)
        if error is not None and failure_key(error) not in self.known:
            trial = self._repeat(record)
        return error, trial

    def _repeat(self, record: RunRecord) -> TrialRun:
        """Run a worker's schedule in this process."""
        trial = TrialRun(LenientReplay(record.mode, record.decisions), self.run)
        self.trees[0].nondeterministic |= trial.error is not None or trial.token != record.token
        return trial

    def _add_trees(self) -> None:
        """Add trees for modes that a run has shown to differ."""
        known = {tree.mode for tree in self.trees}
        for mode in self.scope.modes():
            if mode not in known:
                self.trees.append(self.new_tree(mode))
                self.trees[-1].polls = self.trees[0].polls
                self.trees[-1].answered = self.trees[0].answered
                if self.mixes:
                    self.trees[-1].mix()

    def _failed(self, kind: Any, error: Any, trial: TrialRun | None) -> None:
        if kind in self.known:
            self.known[kind][0].times += 1
            return
        if len(self.known) >= MAX_FAILURES:
            self.exploration.others += 1
            return
        assert trial is not None  # see `suffices`
        failure = Failure(error, trial.token)
        self.known[kind] = failure, trial
        self.exploration.failures.append(failure)
        self.stopped = self.stop == "first"

    def conclude(self) -> Exploration:
        """Return the results, with limits, scope, method and an explanation of each failure."""
        exploration, trees = self.exploration, self.trees
        unexplored = set().union(*(tree.unexplored for tree in trees))
        exploration.limits = [f"{what} is not explored" for what in sorted(unexplored)]
        if any(tree.poll_excluded for tree in trees):
            times = counted(self.polls, "time")
            exploration.limits.append(
                f'no test reports "not yet" more than {times} in a row while something else can happen'
            )
        if any(tree.unfair for tree in trees):
            exploration.limits.append(f"no rank is more than {MAX_AHEAD} polls ahead of another rank that can run")
        if any(tree.nondeterministic for tree in trees):
            exploration.limits.append(
                "the program is not deterministic: does it depend on random numbers, the time or the order of a set?"
            )
        bound = trees[0].mixing_bound
        if bound is not None and any(tree.beyond_mixing_bound for tree in trees):
            exploration.limits.append(f"no two deviations are more than {counted(bound, 'choice')} apart")
        if any(CHANGED in tree.untracked_effects for tree in trees) and trees[0].shared is not None:
            why = trees[0].shared.why
            exploration.limits.append(
                f"ranks share Python objects that change ({why}); the order of changes is not explored"
            )
        exploration.limits += self.outcomes.limits()
        exploration.part = 1.0 if self.exhausted else sum(tree.done for tree in trees) / len(trees)
        exploration.exhausted = self.exhausted and not exploration.limits
        exploration.scope = self.scope.describe()
        exploration.method = ", ".join(self._methods())
        modes = self._other_modes() if self.stopped and not self.successes else ""
        for failure, trial in self.known.values():
            explain(failure, trial, self.successes, exploration, self.run)
            failure.why = modes + failure.why
            self.outcomes.explain(failure)
        return exploration

    def _other_modes(self) -> str:
        """Try the modes that were not tried before the first failure: perhaps the program only relies on buffering.

        Return a clause that counts the modes in which the program fails; empty if it fails in all.
        """
        tried = {trial.choices.mode for _, trial in self.known.values()}
        others = [tree.mode for tree in self.trees if tree.mode not in tried]
        for mode in others:
            trial = TrialRun(LenientReplay(mode, ()), self.run)
            if trial.error is None and not trial.ended_early:
                self.successes.append((mode, tuple(trial.decisions)))
        count = len(tried) + len(others)
        return f"fails in {count - len(self.successes)} of {count} modes: " if self.successes else ""

    def _methods(self) -> Iterator[str]:
        yield SIMPLEST
        if self.mixed:
            span = counted(max(tree.bound for tree in self.trees), "choice")
            yield f"{self.mixed:,} by bounded mixing (up to {span} apart)"
        if self.random_runs:
            yield f"{self.random_runs:,} at random"
        merged, unknown = sum(tree.merged for tree in self.trees), set().union(*(tree.unknown for tree in self.trees))
        if merged:
            yield f"{merged:,} ended in a known state"
        if unseen := set().union(*(tree.untracked_effects for tree in self.trees)):
            yield f"no reduction because of {' and '.join(sorted(unseen))}"
        if unknown:
            yield f"no state comparison because of {' and '.join(sorted(unknown))}"
