"""A sweep: one operation, its algorithms, several numbers of ranks or sizes; how long each takes, and which is best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from collectives import CATALOGUE, Algorithm, Case, DoesNotFit
from fakempi.compare.bounds import lower_bound
from fakempi.compare.calls import call
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError, RankError
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


def candidates(operation: str, kind: str, names: Sequence[str] = ()) -> list[Algorithm]:
    """The algorithms to compare; `names` are those asked for, else all."""
    found = {each.name: each for each in CATALOGUE if (each.operation, each.kind) == (operation, kind)}
    unknown = [name for name in names if name not in found]
    if unknown:
        raise MPIValueError(ERR_ARG, f"{operation} has no algorithm {unknown[0]!r}; there are {', '.join(found)}.")
    return [found[name] for name in names] if names else list(found.values())


def sweep(
    operation: str,
    ranks: Sequence[tuple[int, int]],
    sizes: Sequence[int],
    *,
    cost: CostModel,
    names: Sequence[str] = (),
    distribution: tuple[str, Any] | None = None,
    kind: str = "intra",
) -> Sweep:
    """Time all algorithms for every number of ranks with every size.

    `ranks` are (p, 0), or (p, q) between two groups. `distribution` is a name and a function of a total and a number of
    ranks, for operations whose blocks differ in size.
    """
    algorithms = candidates(operation, kind, names)
    made = Sweep(operation, kind, distribution[0] if distribution else "", [algorithm.name for algorithm in algorithms])
    for p, q in ranks:
        for nbytes in sizes:
            made.columns.append(_column(algorithms, p, q, nbytes, cost, distribution))
    return made


def _column(algorithms: list[Algorithm], p: int, q: int, nbytes: int, cost: CostModel, distribution: Any) -> Column:
    times, refused = {}, {}
    operation = algorithms[0].operation
    case = make_case(operation, p, q, nbytes, distribution)
    for algorithm in algorithms:
        own = Case(**{**vars(case), "parameters": {"first": True}}) if "first" in algorithm.parameters else case
        try:
            times[algorithm.name] = duration(algorithm, own, cost)
        except DoesNotFit as reason:
            refused[algorithm.name] = str(reason).partition(": ")[2]
    bound = lower_bound(operation, case, *cost.linear) if cost.linear is not None and cost.ports == 1 else None
    return Column(p, q, nbytes, times, refused, bound)


def make_case(operation: str, p: int, q: int, nbytes: int, distribution: tuple[str, Any] | None = None) -> Case:
    """A case with blocks of so many bytes, or of so many on average; between groups both have as many in all."""
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
    if cost.linear is not None and cost.duplex and cost.ports == 1 and cost.eager_limit == 0:
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
