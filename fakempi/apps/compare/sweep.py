"""A sweep: the times of an operation's algorithms for several numbers of ranks or sizes, and the fastest ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace

from collectives import CATALOGUE, Algorithm, Case
from collectives.catalogue.case import Parameters
from collectives.catalogue.schedule import Seconds
from collectives.distributions import Distribution, regular
from collectives.trials.cases import UNSIZED, average, counted_case, make_case
from fakempi.apps.compare.bounds import lower_bound
from fakempi.apps.compare.jobs import TimingJob, run_jobs
from fakempi.apps.compare.timing import MAKESPAN, CaseTime
from fakempi.core.network.cost import CostModel
from fakempi.core.options import cost_model
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.tuning.parsing import typed
from fakempi.tuning.requests import Costs, chosen


@dataclass(frozen=True)
class Column:
    """One number of ranks and one size.

    `case_times` has every algorithm, including those that reject the case. `bound` is None if the lower bound does not hold
    for the cost model.
    """

    p: int
    q: int
    nbytes: int
    case_times: Mapping[str, CaseTime]
    bound: Seconds | None

    @property
    def times(self) -> dict[str, Seconds]:
        """Seconds by algorithm, without those that reject the case or were skipped."""
        return {name: case_time.seconds for name, case_time in self.case_times.items() if case_time.seconds is not None}

    @property
    def refused(self) -> dict[str, str]:
        """The reasons of the algorithms that reject the case."""
        return {name: case_time.refused for name, case_time in self.case_times.items() if case_time.refused}

    @property
    def best(self) -> list[str]:
        """The fastest algorithms; several if their times are equal."""
        least = min(self.times.values(), default=0)
        return [name for name, time in self.times.items() if time <= least * (1 + 1e-12)]  # up to rounding errors


@dataclass(frozen=True)
class Sweep:
    """The result of a comparison, by column. `cost` is the cost model as given.

    A sweep is also a collection of records, one for each algorithm and column, which `pandas.DataFrame` takes as it is. In
    a record, `seconds` is the time that the table shows, and `how` is "claimed" or "emulated". Unknown values are None.
    `differ` states whether the claim and the emulated time differ, if there are both.
    """

    operation: str
    kind: str
    distribution: str
    cost: str
    names: Sequence[str]
    columns: list[Column] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(len(column.case_times) for column in self.columns)

    def __iter__(self) -> Iterator[dict[str, str | int | float | bool | None]]:
        for column in self.columns:
            for name, case_time in column.case_times.items():
                yield {
                    "operation": self.operation,
                    "kind": self.kind,
                    "algorithm": f"{name}: {case_time.chosen}" if case_time.chosen else name,
                    "p": column.p,
                    "q": column.q,
                    "bytes": column.nbytes,
                    "distribution": self.distribution,
                    "seconds": as_float(case_time.seconds),
                    "how": case_time.how,
                    "claimed": as_float(case_time.claimed),
                    "emulated": as_float(case_time.emulated),
                    "differ": case_time.differ,
                    "bound": as_float(column.bound),
                    "refused": case_time.refused,
                    "cost": self.cost,
                }


def as_float(time: Seconds | None) -> float | None:
    """Return a time as a float."""
    return None if time is None else float(time)


@dataclass(frozen=True)
class Contender:
    """An algorithm with parameters and a label; None is the algorithm that a call uses by default."""

    label: str
    algorithm: Algorithm | None
    parameters: Parameters


DEFAULT = Contender("default", None, {})
"""The algorithm that the default table chooses, in each column."""


def contenders(
    operation: str, kind: str = "intra", requested: Sequence[tuple[Algorithm | str, Parameters]] = (), costs: Costs = None
) -> list[Contender]:
    """Return the requested algorithms with their parameters (`tuning.requests`), or all algorithms of an operation.

    `costs` are t_s and t_w, for rules that depend on them.
    """
    key = kind, operation
    by_label: dict[str, Contender] = {}
    for name_or_file, parameters in requested or [
        (candidate, {}) for candidate in CATALOGUE if (candidate.kind, candidate.operation) == key
    ]:
        algorithm, values = chosen(key, (name_or_file, parameters), costs)
        name, file = typed((algorithm, parameters)), typed((name_or_file, parameters))
        label = next(candidate for candidate in (name, file, f"{file} #{len(by_label) + 1}") if candidate not in by_label)
        by_label[label] = Contender(label, algorithm, values)
    return list(by_label.values())


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
    max_messages: int | None = None,
    timing: str = MAKESPAN,
    executor: Executor | None = None,
    report: Callable[[str, Case], object] = lambda label, case: None,
) -> Sweep:
    """Time all algorithms, or those given, for every number of ranks with every size.

    Parameters
    ----------
    ranks
        Numbers of ranks: p, or (p, q) for two groups.
    sizes
        Bytes of a block, or of the message for operations with a single message.
    cost
        A cost model, or a text as for `--cost`.
    among
        Algorithms, from `contenders`.
    distribution
        A name, and a function of a total and a number of ranks, for operations whose blocks differ in size.
    counts
        A name and custom counts, instead of ranks, sizes and distribution: see `counted_case`.
    measure
        Emulate all cases, including those with a claim.
    max_messages
        Skip algorithms that would have to be emulated with more messages than this number; for algorithms without a
        schedule, with more than half of it. By default no algorithm is skipped.
    timing
        "makespan", the time until the last rank has finished, or "osu", the average over ranks in the loop of the OSU
        benchmarks.
    executor
        Any `concurrent.futures.Executor`, including Dask's and mpi4py's. Algorithms are sent as their names in the
        catalogue or as the paths of their files; all others are timed in this process.
    report
        Called with the label and the case of each time, before it is computed.

    Returns
    -------
    Sweep
        A column for each number of ranks and size, with the time of every algorithm. It is also a collection of records:
        `pandas.DataFrame(sweep(...))` has a row for each algorithm and column.

    Examples
    --------
    >>> swept = sweep("bcast", [4, 8], [1024], cost="hockney:t_s=1,t_w=0,eager_limit=0", among=contenders("bcast")[2:5:2])
    >>> [dict(column.times) for column in swept.columns]
    [{'binomial': 2, 'chain': 3}, {'binomial': 3, 'chain': 7}]
    """
    among = among or contenders(operation, kind)
    pairs = [number if isinstance(number, tuple) else (number, 0) for number in ranks]
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
    jobs = [
        TimingJob(item.algorithm, _with_parameters(item, case), cost, measure, key, max_messages, timing)
        for _, case in cases
        for item in among
    ]
    result = Sweep(
        operation, kind, name, cost if isinstance(cost, str) else repr(cost), [contender.label for contender in among]
    )
    model = cost_model(cost) if isinstance(cost, str) else cost
    with closing(run_jobs(jobs, executor)) as case_times:
        for nbytes, case in cases:
            times = {}
            for each in among:
                report(each.label, case)
                times[each.label] = next(case_times)
            size = 0 if operation in UNSIZED else nbytes
            bound = _lower_bound(operation, kind, case, model) if timing == MAKESPAN else None
            result.columns.append(Column(case.p, case.q, size, times, bound))
    return result


def _with_parameters(contender: Contender, case: Case) -> Case:
    """Return the case with an algorithm's parameters; group A has the role of the first group."""
    algorithm = contender.algorithm
    roles = {"first": True} if algorithm is not None and "first" in algorithm.parameters else {}
    return replace(case, parameters={**roles, **contender.parameters})


def _lower_bound(operation: str, kind: str, case: Case, cost: CostModel) -> Seconds | None:
    if cost.linear is None or cost.ports != 1 or kind not in ("intra", "inter"):
        return None
    return lower_bound(operation, case, *cost.linear)
