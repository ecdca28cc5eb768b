"""`explore`: every schedule that can differ, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any

from fakempi.choices.choices import NOT_YETS, Choices
from fakempi.choices.token import BUFFERINGS
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError, OutcomesDiffer
from fakempi.exploring.found import Failure, Found, same
from fakempi.exploring.outcomes import Incomparable, equal
from fakempi.exploring.search import Tree, Trial, Wander
from fakempi.exploring.shared import Shared
from fakempi.exploring.why import explain
from fakempi.world import run

PART = 4
"""If there are too many schedules for the budget, one in so many of it is spent on bounded mixing, and another on chance."""

GOOD, KINDS = 1000, 50
"""Schedules that went well, and kinds of failures, that are kept; others are counted, for there is no end to them."""

SIMPLEST = "fewest deviations first"
"""How schedules are chosen, if there is not more to say."""


def explore(
    main: Callable[..., Any],
    nprocs: int,
    *args: Any,
    runs: int = 1000,
    buffering: str | Sequence[str] = ("zero", "infinite"),
    seed: int | None = None,
    strict: bool = True,
    stop: str | None = None,
    compare: str | None = None,
    seconds: float | None = None,
    reduce: bool = True,
    states: bool = True,
    mixing: int | None = None,
    tell: Callable[[Found, int], None] | None = None,
    **options: Any,
) -> Found:
    """Run `main(comm, *args)` on `nprocs` ranks in every schedule that can differ: whatever MPI leaves open, both ways.

    Tried are which message a receive, probe or Mprobe from any source takes, which requests Waitany, Waitsome, Testany and
    Testsome give, whether a test or Iprobe says "not yet" (twice in a row at most, beyond what it has to), whether standard
    sends wait for their receive, who gets a lock of threads or of a window, and whose atomic operation on a window comes
    first. Not tried are times: messages cost nothing unless `cost` is given.

    Parameters
    ----------
    main, nprocs, *args
        As `run` takes them.
    runs
        Most runs; if there are more schedules, those with the fewest deviations come first, and some by chance.
    buffering
        "zero" (every send waits for its receive), "infinite" (none does), or both.
    seed
        The seed of what is left to chance.
    strict
        Whether findings are failures.
    stop
        "first" ends the search at the first failure.
    compare
        "returns" makes it a failure if what ranks return is not the same in all schedules.
    seconds
        Seconds of real time, after which no run is begun.
    reduce
        False tries schedules, too, that cannot show anything new.
    states
        False goes on from states, too, that were seen before.
    mixing
        Most choices between the first deviation from what comes by itself and the last; None is no bound.
    tell
        Called after each run, with what was found so far and how many edges of the tree wait.
    **options
        Further ones for each `run`: cost, carrier, algorithms, timeout.

    Returns
    -------
    Found
        How many schedules were run, whether these were all, and what failed in which.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.explore(lambda comm: comm.allreduce(1), 3).verdict
    'clean: all 2 schedules'
    """
    _check(runs, stop, compare, mixing)
    kinds = [buffering] if isinstance(buffering, str) else list(buffering)
    for kind in kinds or [""]:
        if kind not in BUFFERINGS:
            raise MPIValueError(ERR_ARG, f"explore: buffering {kind} is unknown; there are {' and '.join(BUFFERINGS)}.")

    def one(choices: Choices, **more: Any) -> Any:
        return run(main, nprocs, *args, decisions=choices, strict=strict, **{**more, **options})

    shared = Shared(main, args) if states else None
    search = Search([Tree(kind, one, reduce, shared, mixing) for kind in kinds], stop, compare, tell)
    until = None if seconds is None else monotonic() + seconds
    search.systematically(runs, until, 2 * (runs // PART))
    search.by_mixing(runs, until, runs // PART)
    if not search.is_over and not search.exhausted:
        search.by_chance(runs, until, seed or 0, one)
    return search.conclude(one)


def _check(runs: Any, stop: Any, compare: Any, mixing: Any) -> None:
    if isinstance(runs, bool) or not isinstance(runs, int):
        raise MPITypeError(ERR_ARG, f"explore: runs must be a whole number, not {runs!r}.")
    if runs < 1:
        raise MPIValueError(ERR_ARG, f"explore: runs is {runs}; there must be at least 1.")
    if mixing is not None and (isinstance(mixing, bool) or not isinstance(mixing, int) or mixing < 0):
        raise MPIValueError(ERR_ARG, f"explore: mixing must be a number of choices, 0 or more, or None, not {mixing!r}.")
    if stop not in (None, "first"):
        raise MPIValueError(ERR_ARG, f"explore: stop must be 'first' or None, not {stop!r}.")
    if compare not in (None, "returns"):
        raise MPIValueError(ERR_ARG, f"explore: compare must be 'returns' or None, not {compare!r}.")


class Search:
    """Trees of runs, and what was found in them."""

    def __init__(self, trees: list[Tree], stop: Any, compare: Any, tell: Any) -> None:
        self.trees, self.stop, self.compare, self.tell = trees, stop, compare, tell
        self.found = Found()
        self.known: dict[Any, tuple[Failure, Trial]] = {}
        self.good: list[tuple[str, tuple[int, ...]]] = []
        self.first: Trial | None = None  # with what it returned
        self.incomparable: dict[str, None] = {}  # which of them cannot be compared, in words
        self.over: list[Tree] = []
        self.tried = self.mixed = self.chances = 0
        self.is_over = False

    @property
    def exhausted(self) -> bool:
        """Whether there is no tree that is not seen through."""
        return len(self.over) == len(self.trees)

    def systematically(self, runs: int, until: float | None, kept: int) -> None:
        """Along the trees, the fewest deviations first; a part of the budget is kept if they are too large."""
        while not self.is_over and not self.exhausted:
            if self.tried >= runs or (until is not None and monotonic() >= until):
                return
            if self.tried >= runs - kept and self.tried + sum(tree.left() for tree in self.trees) > runs:
                return
            tree = min((tree for tree in self.trees if tree not in self.over), key=lambda one: one.next_rank)
            trial = tree.trial()
            if trial is None:
                self.over.append(tree)
            else:
                self._note(trial)

    def by_mixing(self, runs: int, until: float | None, kept: int) -> None:
        """The same, in another order: deviations that are near each other, wherever they are (as in DAMPI)."""
        for tree in self.trees:
            tree.mix()
        before = self.tried
        self.systematically(runs, until, kept)
        self.mixed = self.tried - before

    def by_chance(self, runs: int, until: float | None, seed: int, one: Callable[[Choices], Any]) -> None:
        """What is left of the budget."""
        left = [tree for tree in self.trees if tree not in self.over]
        while not self.is_over and self.tried < runs and (until is None or monotonic() < until):
            kind = left[self.chances % len(left)].buffering
            self.chances += 1
            self._note(Trial(Wander(kind, f"{seed} {self.chances}"), one))

    def _note(self, trial: Trial) -> None:
        self.tried += 1
        if trial.ended_early:
            self.found.ended_early += 1
        else:
            self.found.runs += 1
            error = trial.error or (self._difference(trial) if self.compare else None)
            if error is not None:
                self._failed(error, trial)
            elif len(self.good) < GOOD:
                self.good.append((trial.choices.buffering, tuple(trial.decisions)))
            trial.result = None
        if self.tell is not None:
            self.tell(self.found, sum(len(tree.waiting) for tree in self.trees))

    def _failed(self, error: Any, trial: Trial) -> None:
        kind = same(error)
        if kind in self.known:
            self.known[kind][0].times += 1
            return
        if len(self.known) >= KINDS:
            self.found.others += 1
            return
        failure = Failure(error, trial.token)
        self.known[kind] = failure, trial
        self.found.failures.append(failure)
        self.is_over = self.stop == "first"

    def _difference(self, trial: Trial) -> Any:
        """What is wrong if ranks do not return what they returned in the first run."""
        if self.first is None:
            self.first, self.returned = trial, trial.result.returns
            return None
        for rank, (before, now) in enumerate(zip(self.returned, trial.result.returns, strict=True)):
            try:
                if not equal(before, now):
                    words = f"rank {rank} returns {now!r} in schedule {trial.token}, and {before!r} in {self.first.token}"
                    return OutcomesDiffer(words, rank)
            except Incomparable as error:
                self.incomparable.setdefault(f"results of type {error} cannot be compared")
        return None

    def conclude(self, one: Callable[..., Any]) -> Found:
        """All that there is to say."""
        found, trees = self.found, self.trees
        found.limits = [f"{what} is not explored" for what in sorted(set().union(*(tree.left_out for tree in trees)))]
        if any(tree.bounded for tree in trees):
            found.limits.append(f'no test says "not yet" more than {NOT_YETS} times in a row if there is something else')
        if any(tree.strange for tree in trees):
            found.limits.append("the program is not the same in each run: does it use chance, time or the order of a set?")
        if any(tree.beyond for tree in trees):
            found.limits.append(f"no two deviations are more than {_choices(trees[0].most)} apart")
        found.limits += self.incomparable
        found.part = 1.0 if self.exhausted else sum(tree.done for tree in trees) / len(trees)
        found.exhausted = self.exhausted and not found.limits
        found.method = ", ".join(self._methods())
        for failure, trial in self.known.values():
            explain(failure, trial, self.good, found, one)
        return found

    def _methods(self) -> Iterator[str]:
        yield SIMPLEST
        if self.mixed:
            yield f"{self.mixed:,} by bounded mixing (up to {_choices(max(tree.bound for tree in self.trees))} apart)"
        if self.chances:
            yield f"{self.chances:,} by chance"
        merged, unknown = sum(tree.merged for tree in self.trees), set().union(*(tree.unknown for tree in self.trees))
        if merged:
            yield f"{merged:,} ended in a state that was known"
        if unseen := set().union(*(tree.unseen for tree in self.trees)):
            yield f"nothing left out because of {' and '.join(sorted(unseen))}"
        if unknown:
            yield f"no states compared because of {' and '.join(sorted(unknown))}"


def _choices(count: int | None) -> str:
    return f"{count} choice{'s' * (count != 1)}"
