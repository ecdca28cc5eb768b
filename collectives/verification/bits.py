"""Derive the properties of a call on which the bits of a reduction depend.

Results are compared between ranks, positions, numbers of ranks, roots, placements and orders of arrival. A result is either
the order of the operands (`order_trees`), or the bits of a sum of floats that cancel. To compare different numbers of ranks,
the additional ranks have neutral operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.bits import SOURCES, Bits
from collectives.catalogue.case import Case
from collectives.verification.cases import ROOTED
from collectives.verification.fault import EXACT
from collectives.verification.machine import Machine, Setting
from collectives.verification.order_trees import FIRST_OF_B, NEUTRAL, Array, OrderTrees, reduced

ELEMENTS = 25
"""Elements of the message; where ranks receive blocks, a block has 3."""

RANKS = (1, 2, 3, 4, 5, 6, 8, 9, 12)
PAIRS = ((1, 1), (2, 1), (1, 3), (2, 2), (3, 2), (4, 4), (5, 7))
"""Sizes of two groups."""

VARIED = (3, 5, 6)
"""Numbers of ranks for which other roots, placements and orders of arrival are tried."""

Results = Sequence[Array]
Run = Callable[[Case, Setting, Case], Results | None]
"""Function (case, setting, ranks whose operands are not neutral) -> the result of each rank."""


class Variation(NamedTuple):
    """A call in which one property (`source`) is changed, on which the bits may depend."""

    source: str
    case: Case
    setting: Setting = EXACT


@dataclass
class Evidence:
    """Sources of differences in the bits that were seen, each with the first case that shows it."""

    all_receive: bool
    seen: dict[str, Case] = field(default_factory=dict)
    """Source of a difference -> the first case that shows it; the source is "ranks" if ranks receive different bits."""

    def add(self, source: str, case: Case, *, differs: bool) -> None:
        """Record a comparison."""
        if differs:
            self.seen.setdefault(source, case)

    @property
    def bits(self) -> Bits:
        """The claim that these cases show."""
        equal = "ranks" not in self.seen if self.all_receive else None
        return Bits(equal, tuple(source for source in SOURCES if source in self.seen))


def derive(algorithm: Algorithm, machine: Machine, ranks: int = max(RANKS)) -> Evidence:
    """Return what the bits depend on, from the order in which operands are combined, on up to `ranks` ranks."""
    op = OrderTrees().op(machine.MPI)

    def run(case: Case, setting: Setting, present: Case) -> Results | None:
        def operand(number: int) -> float:
            return number if _exists(number, present) else NEUTRAL

        return reduced(algorithm, case, machine, setting, operand, op)

    return _compared(algorithm, run, ranks)


def of_floats(algorithm: Algorithm, machine: Machine, ranks: int = max(RANKS)) -> Evidence:
    """Return the properties on which the bits of sums of floats that cancel depend; `derive` returns all of these, too."""

    def run(case: Case, setting: Setting, present: Case) -> Results | None:
        def operand(number: int) -> float:
            return _float(number) if _exists(number, present) else 0.0

        return reduced(algorithm, case, machine, setting, operand, machine.MPI.SUM)

    return _compared(algorithm, run, ranks)


def _exists(number: int, case: Case) -> bool:
    return number - FIRST_OF_B < case.q if number >= FIRST_OF_B else number < case.p


def _float(number: int) -> float:
    """The operand of a rank: large numbers of both signs that cancel, so that the order decides the last bits."""
    rng = np.random.default_rng(number)
    return float(rng.standard_normal() * 10.0 ** rng.integers(-8, 9) + (1e8 if number % 2 else -1e8))


def _compared(algorithm: Algorithm, run: Run, ranks: int) -> Evidence:
    evidence = Evidence(algorithm.operation == "allreduce")
    earlier: list[tuple[Case, Results]] = []
    for case in _cases(algorithm, ranks):
        base = run(case, EXACT, case)
        if base is None:
            continue  # other checks report the failure
        for group in (base[: case.p], base[case.p :]):
            equal = [each for each in group if each.size]
            evidence.add("ranks", case, differs=evidence.all_receive and any(_differ(equal[0], each) for each in equal))
            whole = [np.concatenate(equal)] if "scatter" in algorithm.operation and equal else equal
            evidence.add("position", case, differs=any(_differ(each[:1].repeat(each.size), each) for each in whole))
        for source, varied, setting in _variations(algorithm, case):
            again = run(varied, setting, varied)
            evidence.add(source, varied, differs=again is not None and any(map(_differ, _held(base), _held(again))))
        for fewer, before in earlier:
            padded = run(case, EXACT, fewer) if fewer.p <= case.p and fewer.q <= case.q else None
            if padded is not None:
                same = [*padded[: fewer.p], *padded[case.p : case.p + fewer.q]]
                evidence.add("p", case, differs=any(map(_differ, before, same)))
        earlier = [*earlier[-2:], (case, base)]
    return evidence


def _differ(one: Array, other: Array) -> bool:
    """Whether the bits of two results differ at a position that both have."""
    size = min(one.size, other.size)
    return one[:size].tobytes() != other[:size].tobytes()


def _held(results: Results) -> list[Array]:
    """The results of the ranks that have one."""
    return [each for each in results if each.size]


def _cases(algorithm: Algorithm, ranks: int) -> Iterator[Case]:
    """Yield the cases that the algorithm accepts, one for each number of ranks."""
    parameters: dict[str, Any] = {"nodes": 2} if "nodes" in algorithm.parameters else {}
    sizes = PAIRS if algorithm.kind == "inter" else [(p, 0) for p in RANKS]
    for p, q in sizes:
        case = replace(_sized(algorithm.operation, p, q), parameters=parameters)
        if p + q <= max(2, ranks) and algorithm.why_unsupported(case) is None:
            yield case


def _sized(operation: str, p: int, q: int) -> Case:
    if operation == "reduce_scatter":
        return Case(p, q=q, counts=(3 * max(1, q),) * p, counts_b=(3 * p,) * q if q else None, itemsize=8)
    if operation == "reduce_scatter_block":
        return Case(p, 24 * max(1, q), q=q, m_b=24 * p if q else 0, itemsize=8)
    return Case(p, 8 * ELEMENTS, q=q, m_b=8 * ELEMENTS if q else 0, itemsize=8)


def _variations(algorithm: Algorithm, case: Case) -> Iterator[Variation]:
    if case.ranks not in VARIED:
        return
    for root in range(1, case.p) if algorithm.operation in ROOTED else ():
        yield Variation("root", replace(case, root=root))
    for nodes in (1, 3) if "nodes" in algorithm.parameters else ():
        yield Variation("nodes", replace(case, parameters={**case.parameters, "nodes": nodes}))
    for late in range(case.ranks):
        for eager in (0, 1 << 20):
            yield Variation("arrival", case, EXACT._replace(late=late, eager_limit=eager))
    if "scatter" not in algorithm.operation:
        yield Variation("position", replace(case, m=8, m_b=8 if case.q else 0))


def order(algorithm: Algorithm, machine: Machine, p: int, q: int = 0) -> str:
    """Return the order in which the first element is combined on p ranks, as text; empty if the algorithm does not fit."""
    case = replace(_sized(algorithm.operation, p, q), parameters={"nodes": 2} if "nodes" in algorithm.parameters else {})
    trees = OrderTrees()
    if algorithm.why_unsupported(case) is not None:
        return ""
    results = reduced(algorithm, case, machine, EXACT, float, trees.op(machine.MPI))
    held = _held(results or ())
    last = held[-1] if algorithm.operation in ("scan", "exscan") else held[0] if held else np.empty(0)
    return trees.text(int(last[0])) if last.size else ""
