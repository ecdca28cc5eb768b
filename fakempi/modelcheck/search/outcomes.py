"""Comparison of the results and outputs of ranks in different schedules."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, cast

from fakempi.errors import OutcomesDifferError, RunError
from fakempi.modelcheck.search.rank_output import Comparison, RankOutput, StreamAndRank, line_text
from fakempi.mpi.datatypes.padding import value_bytes

COMPARED = ("returns", "output", "lines")
"""Values of `explore(..., compare=...)`."""

SLOW_SECONDS = 0.0314159
"""Modeled seconds per message in runs that show which numbers of an output are times."""

MAX_REPEATED = 20
"""The maximum number of schedules that are repeated to check whether their output is reproducible."""


class PickledOutcome(NamedTuple):
    """The pickled results and the output of the ranks of a worker's run."""

    returns: bytes
    lines: dict[StreamAndRank, list[str]]


class OutcomeComparison:
    """The results and outputs of the first successful schedule, with which all others are compared."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.returns = "returns" in kinds
        self.prints = "output" in kinds or "lines" in kinds
        self.output = RankOutput()
        self.comparison = Comparison("lines" not in kinds)
        self.first: tuple[str, list[Any], dict[Any, list[str]]] | None = None
        self.rerun: Callable[[str], Any] | None = None  # runs a schedule with another cost model
        self.repeated = 0
        self.incomparable: dict[str, None] = {}

    def recorded(self) -> AbstractContextManager[None]:
        """Record the output while the context is open, if outputs are compared."""
        return self.output.recorded() if self.prints else nullcontext()

    @property
    def compares(self) -> bool:
        """Whether anything is compared."""
        return self.returns or self.prints

    def difference(
        self, token: str, returns: list[Any], lines: dict[StreamAndRank, list[str]]
    ) -> OutcomesDifferError | None:
        """Return an error that describes the first difference from the first successful schedule; None if there is none."""
        if self.first is None:
            self.first = token, returns, lines
            if self.prints and lines:
                self._repeat(token, lines)
            return None
        first, returned, printed = self.first
        if self.returns:
            for rank, (before, now) in enumerate(zip(returned, returns, strict=True)):
                try:
                    if not equal(before, now):
                        sentence = f"rank {rank} returns {now!r} in schedule {token}, but {before!r} in schedule {first}"
                        return OutcomesDifferError(sentence, rank)
                except Incomparable as error:
                    self.incomparable.setdefault(f"results of type {error} cannot be compared")
        if not self.prints or self.comparison.difference(lines, printed) is None:
            return None
        self._repeat(token, lines)
        difference = self.comparison.difference(lines, printed)
        return None if difference is None else OutputDiffers(*difference, token, first)

    def decided_by(self, outcome: PickledOutcome | None) -> list[Any] | None:
        """Return the results of a worker's run; None if its comparison requires the results of a run in this process.

        Pickled objects lose their identity, so they are sufficient only if they equal the first results or are plain data.
        """
        if outcome is None or self.first is None:
            return None
        if not self.returns:
            return []
        try:
            returns = cast(list[Any], pickle.loads(outcome.returns))
            same = all(equal(one, other) for one, other in zip(returns, self.first[1], strict=True))
        except Exception:  # classes that cannot be imported here; results that cannot be compared
            return None
        return returns if same or is_plain(returns) else None

    def _repeat(self, token: str, lines: dict[StreamAndRank, list[str]]) -> None:
        """Run a schedule again with another cost model: numbers that change do not depend on the schedule alone."""
        if self.rerun is None or self.repeated >= MAX_REPEATED:
            return
        self.repeated += 1
        try:
            self.rerun(token)
        except RunError:
            return
        self.comparison.learn(lines, self.output.lines())

    def explain(self, failure: Any) -> None:
        """Complete the report of a different outcome: name the closest schedule that has the first outcome."""
        error = failure.error
        if isinstance(error, OutcomesDifferError):
            failure.why = failure.why.replace("the run succeeds", "the outcome is the other one")
        if isinstance(error, OutputDiffers) and failure.passes:
            error.describe(failure.schedule, failure.passes)

    def limits(self) -> list[str]:
        """Return the comparisons that were not possible, as sentences."""
        streams = sorted(self.comparison.nondeterministic)
        repeated = "between two runs of one schedule"
        lines = [f"the output of {_name(rank)} ({stream}) differs {repeated}" for stream, rank in streams]
        lines += [
            f"numbers in lines like {line_text(shape)} of {_name(rank)} ({stream}) are not compared: some differ {repeated}"
            for (stream, rank), shape in self.comparison.ambiguous()
        ]
        return [*self.incomparable, *lines]


class OutputDiffers(OutcomesDifferError):
    """The output of a rank depends on the schedule."""

    def __init__(self, where: tuple[str, int], line: int, mine: str, other: str, token: str, first: str) -> None:
        super().__init__("", where[1])
        self.stream, self.line, self.mine, self.other = where[0], line, mine, other
        self.describe(token, first)

    def describe(self, token: str, other: str) -> None:
        """Set the message: both lines, and the schedules that print them."""
        lines = [f"the output of {_name(self.rank)} depends on the schedule ({self.stream}, line {self.line}):"]
        width = max(len(token), len(other))
        lines += [f"  {token:<{width}}  {self.mine}", f"  {other:<{width}}  {self.other}"]
        self.args = ("\n".join(lines),)


def _name(rank: int) -> str:
    return f"rank {rank}" if rank >= 0 else "code outside all ranks"


class Incomparable(Exception):
    """Two objects cannot be compared, such as functions or open files."""


def equal(one: Any, other: Any, _within: frozenset[tuple[int, int]] = frozenset()) -> bool:
    """Whether two results are equal.

    NaN equals NaN. Objects without `__eq__` are compared attribute by attribute.
    """
    if one is other or (id(one), id(other)) in _within:
        return True
    if type(one) is not type(other):
        return _compare_equal(one, other)
    within = _within | {(id(one), id(other))}
    if type(one).__name__ == "ndarray" and not one.dtype.hasobject:
        alike = one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and (value_bytes(one) == value_bytes(other) or (one == other).all()))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(equal(a, b, within) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(value, other[key], within) for key, value in one.items())
    if _compare_equal(one, other) or not (
        _compare_equal(one, one) or _compare_equal(other, other)
    ):  # the second case is NaN
        return True
    if getattr(type(one), "__eq__", None) is not object.__eq__:  # the program defines the comparison, and it returned False
        return False
    if not hasattr(one, "__dict__") or callable(one):
        raise Incomparable(type(one).__name__)
    return equal(vars(one), vars(other), within)


def is_plain(value: Any) -> bool:
    """Whether a value consists of numbers, texts, arrays of these, and lists, tuples and dictionaries."""
    kind = type(value)
    if kind in (list, tuple):
        return all(map(is_plain, value))
    if kind is dict:
        return all(map(is_plain, (*value, *value.values())))
    if kind.__name__ == "ndarray":
        return not value.dtype.hasobject
    return value is None or kind in (bool, int, float, complex, str, bytes)


def _compare_equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # array types compare elementwise, and a program's `__eq__` may raise anything
        return False
