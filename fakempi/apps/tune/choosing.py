"""The best algorithm for each operation, number of ranks and size, and rules that merge equal choices.

The model is unsure in cases in which the best algorithm saves less than `margin` of the time of the library's own choice. In
these cases the library's choice is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, NamedTuple

from collectives import Algorithm, Case
from collectives.tools.numbers import is_power_of_two
from collectives.trials.cases import UNSIZED, make_case
from fakempi.apps.tune.estimates import check_messages, estimate, stand_in
from fakempi.apps.tune.targets import DEFAULT, TARGETS, Candidate, Pick, Target
from fakempi.core.network.cost import CostModel
from fakempi.core.options import cost_model
from fakempi.tuning import NodesOfRanks, startup_bytes
from fakempi.tuning.parts import facts_of
from fakempi.tuning.rule import REDUCING

MARGIN: Final = 0.05
ITEM: Final = 8
"""Bytes of an element of a reduction."""

FEW_MESSAGES: Final = 1 << 24
"""Numbers of ranks with fewer messages, one for each pair of ranks or for each segment on a rank, are not checked."""

MAX_SEGMENTS: Final = 256
"""Segments that cut a message into more pieces are not tried: start-ups cost more than they gain, and estimates are slow."""

SIZES: Final = tuple(8 * 4**k for k in range(11))
"""The default sizes: 8 bytes to 8 MiB."""


class TunedCase(NamedTuple):
    """One case: the library's own choice with its seconds, the best algorithm with its seconds, and the rules' choice."""

    operation: str
    p: int
    nbytes: int
    default: str
    default_seconds: float
    best: Pick
    best_seconds: float
    pick: Pick

    @property
    def gain(self) -> float:
        """The speedup of the rule over the library's own choice; 1 where that choice is kept."""
        return self.default_seconds / self.best_seconds if self.pick.name and self.best_seconds else 1.0


class Cell(NamedTuple):
    """A choice for sizes from `least` on, in the unit of the library."""

    least: int
    pick: Pick


@dataclass(frozen=True)
class Row:
    """The choices for `first` to `last` ranks (None: no limit), by size; `others` apply if p is not a power of two."""

    first: int
    last: int | None
    cells: tuple[Cell, ...]
    others: tuple[Cell, ...]

    def pick(self, p: int, size: int) -> Pick:
        """The choice for a number of ranks in the row, and a size in the unit of the library."""
        cells = self.cells if is_power_of_two(p) else self.others
        return next(cell.pick for cell in reversed(cells) if cell.least <= size)


@dataclass(frozen=True)
class Rules:
    """The rules for a library: rows by operation, in ascending order and without gaps; and the cases they are based on."""

    target: Target
    rows: Mapping[str, tuple[Row, ...]]
    points: tuple[TunedCase, ...] = field(repr=False)

    def pick(self, operation: str, p: int, size: int) -> Pick:
        """The choice for a number of ranks and a size in the unit of the library."""
        return next(row.pick(p, size) for row in reversed(self.rows[operation]) if row.first <= p)


def tune(
    library: str,
    cost: CostModel | str,
    ranks: Sequence[int],
    sizes: Sequence[int] = SIZES,
    operations: Sequence[str] = (),
    *,
    margin: float = MARGIN,
    commutative: bool = False,
    report: Callable[[str, int, int], object] = lambda operation, p, nbytes: None,
) -> Rules:
    """Return the rules for a library ("openmpi" or "mpich") on a machine.

    Parameters
    ----------
    cost
        A cost model, or a text as for `--cost`.
    ranks, sizes
        Numbers of ranks and bytes (of a block or message), ascending. A choice applies up to the next number of ranks and
        to the next size; below the smallest and above the largest number of ranks the library decides.
    operations
        All operations of the library by default.
    margin
        The model is unsure if the best algorithm takes at least 1 - margin times the time of the library's choice.
    commutative
        Also choose reductions of Open MPI that give wrong results for noncommutative ops; MPICH's file has another branch
        for these ops.
    report
        Called with each case before it is computed.
    """
    target = TARGETS[library]
    model = cost_model(cost) if isinstance(cost, str) else cost
    tuner = Tuner(target, model, margin, commutative)
    rows: dict[str, tuple[Row, ...]] = {}
    points: list[TunedCase] = []
    for operation in operations or target.candidates:
        tuner.check(operation, max(ranks), 0 if operation in UNSIZED else max(sizes))
    for operation in operations or target.candidates:
        wanted = (0,) if operation in UNSIZED else sizes
        made = []
        for first, after in pairwise([*ranks, max(ranks) + 1]):
            cells = []
            for p in representatives(first, after, conditional=target.name == "mpich"):
                found = []
                for nbytes in wanted:
                    report(operation, p, nbytes)
                    found.append(tuner.point(operation, p, nbytes))
                points += found
                cells.append(_cells(target, operation, found))
            made.append(Row(first, after - 1, cells[0], cells[-1]))
        rows[operation] = _complete(made)
    return Rules(target, rows, tuple(points))


def representatives(first: int, after: int, *, conditional: bool) -> list[int]:
    """The numbers of ranks that represent first .. after - 1: the first, or the first power of two and the first other one.

    >>> [representatives(first, after, conditional=True) for first, after in ((4, 8), (6, 12), (4, 5))]
    [[4, 5], [8, 6], [4]]
    """
    if not conditional:
        return [first]
    powers = [p for p in range(first, after) if is_power_of_two(p)]
    others = [p for p in range(first, after) if not is_power_of_two(p)]
    return powers[:1] + others[:1]


@dataclass(frozen=True)
class Tuner:
    """Chooses among a library's algorithms on a machine."""

    target: Target
    cost: CostModel
    margin: float
    commutative: bool
    known: dict[tuple[str, str], float] = field(default_factory=dict)

    def check(self, operation: str, p: int, nbytes: int) -> None:
        """Raise MPIValueError if the times of some algorithms would take hours; the longest message has most messages."""
        if p * max(p, MAX_SEGMENTS) <= FEW_MESSAGES:
            return
        case = _case(operation, p, nbytes)
        default, parameters = self._default(operation, case)
        candidates = [(each.algorithm, each.parameters) for each in self._candidates(operation, nbytes)]
        for algorithm, values in [(default, parameters), *candidates]:
            tried = replace(case, parameters=values)
            if algorithm.why_unsupported(tried) is None:
                check_messages(algorithm, tried, self.cost)

    def point(self, operation: str, p: int, nbytes: int) -> TunedCase:
        """The choice in one case."""
        case = _case(operation, p, nbytes)
        default, parameters = self._default(operation, case)
        seconds = self._seconds(default, replace(case, parameters=parameters))
        best, fastest = DEFAULT, seconds
        for each in self._candidates(operation, nbytes):
            tried = replace(case, parameters=each.parameters)
            if each.algorithm.why_unsupported(tried) is None and (time := self._seconds(each.algorithm, tried)) < fastest:
                best, fastest = each.pick, time
        pick = best if fastest < (1 - self.margin) * seconds else DEFAULT
        return TunedCase(operation, p, nbytes, default.name, seconds, best, fastest, pick)

    def _candidates(self, operation: str, nbytes: int) -> Iterable[Candidate]:
        for each in self.target.candidates[operation]:
            size = each.pick.segment
            if (each.any_op or self.commutative) and (size == 0 or size < nbytes <= MAX_SEGMENTS * size):
                yield each

    def _default(self, operation: str, case: Case) -> tuple[Algorithm, Mapping[str, object]]:
        nodes = NodesOfRanks.of([self.cost.node(rank) for rank in range(case.p)])
        facts = facts_of("intra", operation, case, startup_bytes(self.cost.linear), nodes)
        choice = self.target.table.choose(facts)
        return choice.algorithm, choice.parameters

    def _seconds(self, algorithm: Algorithm, case: Case) -> float:
        if any(isinstance(value, Algorithm) for value in case.parameters.values()):
            return estimate(algorithm, case, self.cost)  # parts of the same name can differ
        key = repr(stand_in(algorithm)), repr(case)
        if key not in self.known:
            self.known[key] = estimate(algorithm, case, self.cost)
        return self.known[key]


def _case(operation: str, p: int, nbytes: int) -> Case:
    case = make_case(operation, p, 0, nbytes)
    if operation in REDUCING and nbytes % ITEM == 0:
        counts = None if case.counts is None else tuple(count // ITEM for count in case.counts)
        case = replace(case, itemsize=ITEM, counts=counts)
    return case


def _cells(target: Target, operation: str, points: Sequence[TunedCase]) -> tuple[Cell, ...]:
    """The choices of one number of ranks by size, from 0 on; neighbors with the same choice are merged."""
    cells: list[Cell] = []
    for point in points:
        least = target.size(operation, point.p, point.nbytes) if cells else 0
        if not cells or cells[-1].pick != point.pick:
            cells.append(Cell(least, point.pick))
    return tuple(cells)


def _complete(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with the library's own choice below and above them; neighbors with the same choices are merged."""
    default = (Cell(0, DEFAULT),)
    after = rows[-1].last
    assert after is not None
    full = [Row(1, rows[0].first - 1, default, default), *rows] if rows[0].first > 1 else list(rows)
    merged: list[Row] = []
    for row in [*full, Row(after + 1, None, default, default)]:
        if merged and (merged[-1].cells, merged[-1].others) == (row.cells, row.others):
            merged[-1] = replace(merged[-1], last=row.last)
        else:
            merged.append(row)
    return tuple(merged)
