"""A sweep: one operation, its algorithms, several numbers of ranks or sizes; how long each takes, and which is best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from collectives import CATALOGUE, Algorithm, Case, DoesNotFit
from fakempi.compare.bounds import lower_bound
from fakempi.compare.calls import call
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError, RankError
from fakempi.tuning.asked import Costs, chosen
from fakempi.tuning.words import typed
from fakempi.wire.cost import CostModel
from fakempi.world import run

UNEVEN = ("gatherv", "scatterv", "allgatherv", "reduce_scatter")
PAIRED = ("alltoallv", "alltoallw")


@dataclass(frozen=True)
class Column:
    """One number of ranks and one size.

    `times` has every algorithm that serves them, `refused` why the others do not. `bound` is None where the cost model
    is not the one that it holds for.
    """

    p: int
    q: int
    nbytes: int
    times: Mapping[str, Any]
    refused: Mapping[str, str]
    bound: Any

    @property
    def best(self) -> list[str]:
        """The fastest; several if they take the same time."""
        least = min(self.times.values(), default=0)
        return [name for name, time in self.times.items() if time <= least * (1 + 1e-12)]  # as far as floats can tell


@dataclass(frozen=True)
class Sweep:
    """What was compared, and column for column how."""

    operation: str
    kind: str
    distribution: str
    names: Sequence[str]
    columns: list[Column] = field(default_factory=list)


@dataclass(frozen=True)
class Contender:
    """An algorithm with parameters, and what to call it."""

    label: str
    algorithm: Algorithm
    parameters: Mapping[str, Any]


def contenders(
    operation: str, kind: str = "intra", asked: Sequence[tuple[Any, Mapping[str, Any]]] = (), costs: Costs = None
) -> list[Contender]:
    """What is to be compared: algorithms and parameters as asked for (`tuning.asked`), else all as they are.

    `costs` are t_s and t_w, for rules that depend on them.
    """
    key = kind, operation
    made: dict[str, Contender] = {}
    for what, parameters in asked or [(each, {}) for each in CATALOGUE if (each.kind, each.operation) == key]:
        algorithm, values = chosen(key, (what, parameters), costs)
        name, file = typed((algorithm, parameters)), typed((what, parameters))
        label = next(each for each in (name, file, f"{file} #{len(made) + 1}") if each not in made)
        made[label] = Contender(label, algorithm, values)
    return list(made.values())


def sweep(
    operation: str,
    ranks: Sequence[tuple[int, int]],
    sizes: Sequence[int],
    *,
    cost: CostModel,
    among: Sequence[Contender] = (),
    distribution: tuple[str, Any] | None = None,
    kind: str = "intra",
    tell: Callable[[str, Case], object] = lambda label, case: None,
) -> Sweep:
    """Time all algorithms, or those given, for every number of ranks with every size.

    `ranks` are (p, 0), or (p, q) between two groups. `distribution` is a name and a function of a total and a number of
    ranks, for operations whose blocks differ in size. `tell` hears what is going to be timed next.
    """
    among = among or contenders(operation, kind)
    made = Sweep(operation, kind, distribution[0] if distribution else "", [each.label for each in among])
    for p, q in ranks:
        for nbytes in sizes:
            case = make_case(operation, p, q, nbytes, distribution)
            made.columns.append(_column(among, case, nbytes, cost, tell))
    return made


def _column(
    among: Sequence[Contender], case: Case, nbytes: int, cost: CostModel, tell: Callable[[str, Case], object]
) -> Column:
    times, refused = {}, {}
    for each in among:
        tell(each.label, case)
        roles = {"first": True} if "first" in each.algorithm.parameters else {}
        own = replace(case, parameters={**roles, **each.parameters})
        try:
            times[each.label] = duration(each.algorithm, own, cost)
        except DoesNotFit as reason:
            refused[each.label] = str(reason).partition(": ")[2]
    first = among[0].algorithm
    linear = cost.linear if cost.ports == 1 and first.kind in ("intra", "inter") else None
    bound = None if linear is None else lower_bound(first.operation, case, *linear)
    return Column(case.p, case.q, nbytes, times, refused, bound)


def make_case(operation: str, p: int, q: int, nbytes: int, distribution: tuple[str, Any] | None = None) -> Case:
    """A case with blocks of so many bytes, or of so many on average; between groups both have as many in all."""
    if operation == "split":
        return Case(p)
    spread = distribution[1] if distribution else _evenly
    if operation in UNEVEN:
        total = nbytes * p
        total_b = total if _same(operation) else nbytes * q
        return Case(p, counts=spread(total, p), q=q, counts_b=spread(total_b, q) if q else None)
    if operation in PAIRED:
        others = q or p
        back = (spread(nbytes * p, p),) * q if q else None
        return Case(p, traffic=(spread(nbytes * others, others),) * p, q=q, traffic_b=back)
    if q and _same(operation) and nbytes * p % q:
        raise MPIValueError(ERR_ARG, f"{operation} on {p} + {q} ranks: {p} blocks of {nbytes} bytes are no {q} equal ones.")
    return Case(p, nbytes, q=q, m_b=nbytes * p // q if q and _same(operation) else nbytes if q else 0)


def _same(operation: str) -> bool:
    """Whether the two groups must have the same in all."""
    return operation in ("reduce_scatter", "reduce_scatter_block")


def _evenly(total: int, p: int) -> tuple[int, ...]:
    return tuple(total // p + (rank < total % p) for rank in range(p))


def duration(algorithm: Algorithm, case: Case, cost: CostModel) -> Any:
    """How long it takes: by its claim where that is exact for the cost model, else by a run without contents."""
    algorithm.check(case)
    exact = algorithm.kind in ("intra", "inter")  # others depend on the data
    if exact and cost.linear is not None and cost.duplex and cost.ports == 1 and cost.eager_limit == 0:
        claimed = algorithm.time(case, *cost.linear, cost.compute_per_byte)
        if claimed is not None:
            return claimed
    return measured(algorithm, case, cost)


def measured(algorithm: Algorithm, case: Case, cost: CostModel) -> Any:
    """How long it takes on the emulator."""
    try:
        return run(lambda comm: call(algorithm, case, comm), case.ranks, cost=cost).time
    except RankError as error:
        if isinstance(error.exception, DoesNotFit):
            raise error.exception from None
        raise


def ratio(time: Any, bound: Any) -> float | None:
    """How many times the lower bound it takes."""
    return float(Fraction(time) / Fraction(bound)) if bound else None
