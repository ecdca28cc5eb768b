"""The options of a search: `SearchOptions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypeAlias

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.modelcheck.search.exploration import Exploration
from fakempi.modelcheck.search.outcomes import COMPARED
from fakempi.modelcheck.search.scope import Scope
from fakempi.modelcheck.steering.token import BUFFERINGS, COLLECTIVES, DATA, Buffering, CollectiveMode, DataMode

Compared: TypeAlias = Literal["returns", "output", "lines"]


@dataclass(frozen=True)
class SearchOptions:
    """The options of `explore` that are not those of its runs, checked; its docstring describes them."""

    runs: int = 1000
    buffering: Buffering | Sequence[Buffering] = BUFFERINGS
    collectives: CollectiveMode | Sequence[CollectiveMode] = COLLECTIVES
    data: DataMode | Sequence[DataMode] = DATA
    seed: int | None = None
    stop: Literal["first"] | None = None
    compare: Compared | Sequence[Compared] | None = None
    seconds: float | None = None
    reduce: bool = True
    states: bool = True
    mixing: int | None = None
    polls: int | None = None
    ignore_shared: bool = False
    on_run: Callable[[Exploration, int], None] | None = None
    executor: Executor | None = None

    @property
    def compared(self) -> tuple[str, ...]:
        """The outcomes to compare between schedules."""
        return (self.compare,) if isinstance(self.compare, str) else tuple(self.compare or ())

    def scope(self) -> Scope:
        """Return the modes to explore."""
        return Scope(
            _listed("buffering", self.buffering, BUFFERINGS), _listed("collectives", self.collectives, COLLECTIVES),
            _listed("data", self.data, DATA),
        )  # fmt: skip

    def __post_init__(self) -> None:
        """Check the values."""
        runs, seconds = self.runs, self.seconds
        if isinstance(runs, bool) or not isinstance(runs, int):
            raise MPITypeError(ERR_ARG, f"explore: runs must be an integer, not {runs!r}.")
        if runs < 1:
            raise MPIValueError(ERR_ARG, f"explore: runs is {runs}; it must be at least 1.")
        for name, kind in (("mixing", "a number of choices"), ("polls", "an integer")):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise MPIValueError(ERR_ARG, f"explore: {name} must be {kind}, 0 or more, or None, not {value!r}.")
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) > 0):
            raise MPIValueError(ERR_ARG, f"explore: seconds must be a positive number of seconds, or None, not {seconds!r}.")
        if self.stop not in (None, "first"):
            raise MPIValueError(ERR_ARG, f"explore: stop must be 'first' or None, not {self.stop!r}.")
        for kind in self.compared:
            if kind not in COMPARED:
                known = ", ".join(map(repr, COMPARED))
                raise MPIValueError(ERR_ARG, f"explore: compare must be {known} or None, not {kind!r}.")
        if self.executor is not None and not callable(getattr(self.executor, "submit", None)):
            words = f"explore: executor must be a concurrent.futures.Executor or None, not {self.executor!r}."
            raise MPITypeError(ERR_ARG, words)
        self.scope()  # an unknown mode raises an error


def _listed(name: str, given: str | Sequence[str], known: Sequence[str]) -> list[str]:
    kinds = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    for kind in kinds or ["()"]:
        if kind not in known:
            *first, last = known
            raise MPIValueError(ERR_ARG, f"explore: {name} {kind} is unknown; choose from {', '.join(first)} and {last}.")
    return kinds
