"""A sweep: one operation, its algorithms, several numbers of ranks or sizes; how long each takes, and which is best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from collectives import CATALOGUE, Algorithm, Case
from collectives.distributions import Distribution, regular
from collectives.trials.cases import UNSIZED, average, counted_case, make_case
from fakempi.compare.bounds import lower_bound
from fakempi.compare.jobs import Job, carry_out
from fakempi.compare.timing import Figure
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.options import cost_model
from fakempi.tuning.asked import Costs, chosen
from fakempi.tuning.words import typed
from fakempi.wire.cost import CostModel


@dataclass(frozen=True)
class Column:
    """One number of ranks and one size.

    `figures` has every algorithm, also those that refuse. `bound` is None where the cost model is not the one that it
    holds for.
    """

    p: int
    q: int
    nbytes: int
    figures: Mapping[str, Figure]
    bound: Any

    @property
    def times(self) -> dict[str, Any]:
        """Seconds of every algorithm that serves."""
        return {name: figure.seconds for name, figure in self.figures.items() if not figure.refused}

    @property
    def refused(self) -> dict[str, str]:
        """Why the others do not."""
        return {name: figure.refused for name, figure in self.figures.items() if figure.refused}

    @property
    def best(self) -> list[str]:
        """The fastest; several if they take the same time."""
        least = min(self.times.values(), default=0)
        return [name for name, time in self.times.items() if time <= least * (1 + 1e-12)]  # as far as floats can tell


@dataclass(frozen=True)
class Sweep:
    """What was compared, and column for column how. `cost` is as it was given; `rows` makes records of all of it."""

    operation: str
    kind: str
    distribution: str
    cost: str
    names: Sequence[str]
    columns: list[Column] = field(default_factory=list)


@dataclass(frozen=True)
class Contender:
    """An algorithm with parameters, and what to call it; None is what a call takes by default."""

    label: str
    algorithm: Algorithm | None
    parameters: Mapping[str, Any]


DEFAULT = Contender("default", None, {})
"""What runs unless something is asked for: in each column what the table takes there."""


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
    ranks: Sequence[int | tuple[int, int]] = (),
    sizes: Sequence[int] = (0,),
    *,
    cost: CostModel | str,
    among: Sequence[Contender] = (),
    distribution: tuple[str, Distribution] | None = None,
    counts: tuple[str, Sequence[Sequence[int]]] | None = None,
    kind: str = "intra",
    measure: bool = False,
    executor: Executor | None = None,
    tell: Callable[[str, Case], object] = lambda label, case: None,
) -> Sweep:
    """Time all algorithms, or those given, for every number of ranks with every size.

    Parameters
    ----------
    ranks
        P, or (p, q) between two groups.
    sizes
        Bytes of a block, or of the message where there is but one.
    cost
        A cost model, or a text as the command line takes it.
    among
        What `contenders` gives.
    distribution
        A name, and a function of a total and a number of ranks, for operations whose blocks differ in size.
    counts
        In place of ranks, sizes and distribution, a name and one's own counts: see `counted_case`.
    measure
        Emulate everything, also what has a claim.
    executor
        Any of `concurrent.futures`, or one that acts like them (Dask's, mpi4py's), to spread the work. Algorithms travel
        as their names in the catalogue or as the paths of their files; all others are timed here.
    tell
        Hears which algorithm in which case is waited for next.

    Returns
    -------
    Sweep
        A column for each number of ranks and size, with every algorithm's time and the best; `rows` makes records of it.

    Examples
    --------
    >>> made = sweep("bcast", [4, 8], [1024], cost="hockney:t_s=1,t_w=0,eager_limit=0", among=contenders("bcast")[:2])
    >>> [dict(column.times) for column in made.columns]
    [{'binomial': 2, 'chain': 3}, {'binomial': 3, 'chain': 7}]
    """
    among = among or contenders(operation, kind)
    pairs = [each if isinstance(each, tuple) else (each, 0) for each in ranks]
    name, spread = distribution or ("", regular)
    try:
        if counts:
            name, case = counts[0], counted_case(operation, counts[1], 2 if kind == "inter" else 1)
            cases = [(average(case), case)]
        else:
            cases = [(nbytes, make_case(operation, p, q, nbytes, spread)) for p, q in pairs for nbytes in sizes]
    except ValueError as error:
        raise MPIValueError(ERR_ARG, str(error)) from None
    key = None if kind == "split" else (kind, operation)
    jobs = [Job(each.algorithm, _own(each, case), cost, measure, key) for _, case in cases for each in among]
    made = Sweep(operation, kind, name, cost if isinstance(cost, str) else repr(cost), [each.label for each in among])
    model = cost_model(cost) if isinstance(cost, str) else cost
    with closing(carry_out(jobs, executor)) as figures:
        for nbytes, case in cases:
            found = {}
            for each in among:
                tell(each.label, case)
                found[each.label] = next(figures)
            size = 0 if operation in UNSIZED else nbytes
            made.columns.append(Column(case.p, case.q, size, found, _bound(operation, kind, case, model)))
    return made


def _own(contender: Contender, case: Case) -> Case:
    """The case with an algorithm's parameters; of two groups A comes first."""
    algorithm = contender.algorithm
    roles = {"first": True} if algorithm is not None and "first" in algorithm.parameters else {}
    return replace(case, parameters={**roles, **contender.parameters})


def _bound(operation: str, kind: str, case: Case, cost: CostModel) -> Any:
    if cost.linear is None or cost.ports != 1 or kind not in ("intra", "inter"):
        return None
    return lower_bound(operation, case, *cost.linear)
