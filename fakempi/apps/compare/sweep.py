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
from fakempi.apps.compare.elements import BYTES, Elements, elements_of
from fakempi.apps.compare.flat import flat_equivalent
from fakempi.apps.compare.jobs import TimingJob, run_jobs
from fakempi.apps.compare.node_bounds import has_node_bound, node_bound
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
    case_times: dict[str, CaseTime]
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
    """The result of a comparison, by column. `cost` is the cost model as given; `elements` is the type of all data.

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
    elements: Elements = BYTES

    def finished(self) -> Sweep:
        """Return the rows with a time in some column; times of the last column that are missing have no value."""
        names = [name for name in self.names if any(name in column.case_times for column in self.columns)]
        for column in self.columns:
            for name in names:
                column.case_times.setdefault(name, CaseTime())
        return replace(self, names=names)

    def __len__(self) -> int:
        return sum(len(column.case_times) for column in self.columns)

    def __iter__(self) -> Iterator[dict[str, str | int | float | bool | None]]:
        for column in self.columns:
            yield from self.records(column)

    def records(self, column: Column) -> Iterator[dict[str, str | int | float | bool | None]]:
        """Yield the records of one column."""
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
                "dtype": self.elements.dtype,
                "itemsize": self.elements.itemsize,
                "parameters": typed_parameters(case_time.parameters),
                "equals": case_time.equals,
                "skipped": case_time.skipped,
            }


def typed_parameters(parameters: Parameters) -> str:
    """Return parameters as typed on a command line, with bytes in units of 1024 where that is exact.

    >>> typed_parameters({"segment_bytes": 8192, "k": 1024}), typed_parameters({"segment_bytes": 10923})
    ('segment_bytes=8k,k=1024', 'segment_bytes=10923')
    """
    return typed({name: _short(value) if name.endswith("_bytes") else value for name, value in parameters.items()})


def _short(nbytes: int) -> str:
    for unit, letter in ((1 << 20, "M"), (1 << 10, "k")):
        if nbytes and nbytes % unit == 0:
            return f"{nbytes // unit}{letter}"
    return str(nbytes)


def as_float(time: Seconds | None) -> float | None:
    """Return a time as a float."""
    return None if time is None else float(time)


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during a sweep; `sweep` has the algorithms and columns that are finished."""

    def __init__(self, sweep: Sweep) -> None:
        super().__init__()
        self.sweep = sweep


@dataclass(frozen=True)
class Contender:
    """An algorithm with parameters and a label; None is the algorithm that a call uses by default."""

    label: str
    algorithm: Algorithm | None
    parameters: Parameters
    requested: bool = True
    """Whether the user named it; otherwise it is not timed where it is the same as another contender (`flat`)."""


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
        by_label[label] = Contender(label, algorithm, values, bool(requested))
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
    dtype: str = "",
    measure: bool = False,
    search: bool = True,
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
    dtype
        The element type, such as "float", "double" or "int64"; by default "char", for reductions "float", as in the Intel
        MPI benchmarks. Algorithms cut messages between elements, and sizes are multiples of an element.
    measure
        Emulate all cases, including those with a claim.
    search
        Compare pipelined algorithms with their best segment size (`search.SEARCHED`), unless `among` sets it.
    max_messages
        Skip algorithms whose time takes the evaluation or emulation of more messages than this number; for algorithms
        without a schedule, of more than half of it. By default an algorithm is skipped if computing its time would take
        more than about 7 GB of memory (`budget.MOST_SIMULATED`).
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
    elements = elements_of(operation, dtype)
    cases = _cases(operation, ranks, sizes, (distribution or ("", regular))[1], counts and counts[1], kind, elements)
    key = None if kind == "split" else (kind, operation)
    model = cost_model(cost) if isinstance(cost, str) else cost
    equal = [_equal_contenders(among, key, case, model) for _, case in cases]
    jobs = [
        TimingJob(item.algorithm, _with_parameters(item, case), cost, measure, key, max_messages, timing, search)
        for (_, case), others in zip(cases, equal, strict=True)
        for item in among
        if item.label not in others
    ]
    text = cost if isinstance(cost, str) else repr(cost)
    name = (counts or distribution or ("",))[0]
    result = Sweep(operation, kind, name, text, [contender.label for contender in among], elements=elements)
    with closing(run_jobs(jobs, executor)) as case_times:
        for (nbytes, case), others in zip(cases, equal, strict=True):
            bound = _lower_bound(operation, kind, case, model) if timing == MAKESPAN else None
            column = Column(case.p, case.q, 0 if operation in UNSIZED else nbytes, {}, bound)
            interrupt = _fill(column, case, result.names, others, case_times, report)
            if column.case_times:
                result.columns.append(column)
            if interrupt:
                raise SweepInterrupted(result.finished()) from interrupt
    return result


def _cases(
    operation: str,
    ranks: Sequence[int | tuple[int, int]],
    sizes: Sequence[int],
    spread: Distribution,
    counts: Sequence[Sequence[int]] | None,
    kind: str,
    elements: Elements,
) -> list[tuple[int, Case]]:
    """Return the cases of a sweep, each with its size; for custom counts, the average."""
    try:
        if counts:
            case = counted_case(operation, counts, 2 if kind == "inter" else 1, elements.itemsize)
            return [(average(case), case)]
        pairs = [number if isinstance(number, tuple) else (number, 0) for number in ranks]
        return [
            (nbytes, make_case(operation, p, q, nbytes, spread, elements.itemsize)) for p, q in pairs for nbytes in sizes
        ]
    except ValueError as error:
        advice = f". The element type is {elements.dtype}: use other sizes, or another type (dtype, --dtype)."
        raise MPIValueError(ERR_ARG, f"{error}{advice if 'whole number of elements' in str(error) else ''}") from None


def _fill(
    column: Column,
    case: Case,
    names: Sequence[str],
    equal: Mapping[str, str],
    case_times: Iterator[CaseTime],
    report: Callable[[str, Case], object],
) -> KeyboardInterrupt | None:
    """Compute the times of a column; Ctrl-C is returned, and the column has the times that are finished."""
    times: dict[str, CaseTime] = {}
    interrupt = None
    try:
        for label in names:
            report(label, case)
            if label not in equal:
                times[label] = next(case_times)
    except KeyboardInterrupt as error:
        interrupt = error
    for label in names:  # in the order of the table
        if (found := times.get(equal.get(label, label))) is not None:
            column.case_times[label] = replace(found, equals=equal.get(label, ""))
    return interrupt


def _with_parameters(contender: Contender, case: Case) -> Case:
    """Return the case with an algorithm's parameters; group A has the role of the first group."""
    algorithm = contender.algorithm
    roles = {"first": True} if algorithm is not None and "first" in algorithm.parameters else {}
    return replace(case, parameters={**roles, **contender.parameters})


def _equal_contenders(
    among: Sequence[Contender], key: tuple[str, str] | None, case: Case, cost: CostModel
) -> dict[str, str]:
    """Return the labels of contenders that are the same as another one in this case, with the label of that one."""
    if key is None:
        return {}
    labels = {contender.label for contender in among}
    equal = {
        contender.label: flat_equivalent(contender.algorithm, key, case, cost)
        for contender in among
        if contender.algorithm is not None and not contender.requested
    }
    return {label: other for label, other in equal.items() if other is not None and other in labels}


def _lower_bound(operation: str, kind: str, case: Case, cost: CostModel) -> Seconds | None:
    if cost.ports != 1 or kind not in ("intra", "inter"):
        return None
    if kind == "intra" and has_node_bound(cost):
        return node_bound(operation, case, cost)
    if cost.linear is None:
        return None
    return lower_bound(operation, case, *cost.linear)
