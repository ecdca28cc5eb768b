"""`explore`: run a program in every schedule that can give a different result, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from numbers import Real
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from fakempi.core.network.models.hockney import Hockney
from fakempi.core.reports.suppressions import Suppressions
from fakempi.core.world import run
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.modelcheck.search.exploration import Exploration
from fakempi.modelcheck.search.jobs import SentProgram
from fakempi.modelcheck.search.outcomes import COMPARED, SLOW_SECONDS, OutcomeComparison
from fakempi.modelcheck.search.progress import Search
from fakempi.modelcheck.search.scope import Scope
from fakempi.modelcheck.search.search import SearchTree
from fakempi.modelcheck.search.shared_objects import SharedObjects
from fakempi.modelcheck.search.workers import Workers, broken
from fakempi.modelcheck.steering.choices import Choices
from fakempi.modelcheck.steering.replay import Replay
from fakempi.modelcheck.steering.token import (
    BUFFERINGS,
    COLLECTIVES,
    DATA,
    Buffering,
    CollectiveMode,
    DataMode,
    LibraryMode,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from fakempi.core.arguments import BackendName, CheckBuffers, Fused, Progress, Ts
    from fakempi.core.network.cost import CostModel
    from fakempi.mpi.base.process import Algorithms
    from fakempi.mpi.comms.intracomm import Intracomm

Compared: TypeAlias = Literal["returns", "output", "lines"]

BUDGET_PARTS = 4
"""If the budget is too small, 1/BUDGET_PARTS of it is used for bounded mixing, and 1/BUDGET_PARTS for random schedules."""

class RunOptions(TypedDict, total=False):
    """Options of `run` that `explore` passes on."""

    cost: CostModel | str | None
    backend: BackendName
    trace: bool
    algorithms: Algorithms
    progress: Progress
    timeout: float | None
    cpu_scale: float
    kill: Mapping[int, float] | None
    detection_delay: float
    check_buffers: CheckBuffers
    poll_cost: float
    fused: Fused


def explore(
    main: Callable[[Intracomm, Unpack[Ts]], object],
    nprocs: int,
    *args: Unpack[Ts],
    runs: int = 1000,
    buffering: Buffering | Sequence[Buffering] = BUFFERINGS,
    collectives: CollectiveMode | Sequence[CollectiveMode] = COLLECTIVES,
    data: DataMode | Sequence[DataMode] = DATA,
    seed: int | None = None,
    strict: bool = True,
    stop: Literal["first"] | None = None,
    compare: Compared | Sequence[Compared] | None = None,
    seconds: float | None = None,
    reduce: bool = True,
    states: bool = True,
    mixing: int | None = None,
    polls: int | None = None,
    ignore_shared: bool = False,
    ignore: str | Sequence[str] | Suppressions | None = None,
    on_run: Callable[[Exploration, int], None] | None = None,
    executor: Executor | None = None,
    **options: Unpack[RunOptions],
) -> Exploration:
    """Run `main(comm, *args)` on `nprocs` ranks in every schedule that can give a different result.

    The search explores: the message that a receive, probe or Mprobe from any source matches; the requests that Waitany,
    Waitsome, Testany and Testsome return; whether a test or Iprobe reports "not yet" (a bounded number of times, see
    `polls`); whether standard sends wait for their receive (all, none, or those above a size); whether collective calls
    synchronize (as little as possible, or all of them); whether data of nonblocking operations move early or late; the order
    in which threads acquire a lock and ranks acquire the lock of a window; and the order of atomic operations on a window.
    It does not explore message times (messages take no time unless `cost` is given) or buffers that fill up during the run.

    Parameters
    ----------
    main, nprocs, *args
        As for `run`.
    runs
        The maximum number of runs. If there are more schedules, those with the fewest deviations from the default choices
        are run first, and some are chosen at random.
    buffering
        "zero" (every standard send waits for its receive), "infinite" (none does), "size" (those above a size do: each size
        of the program's messages except the largest in turn), or several of these.
    collectives
        "minimal" (a rank leaves a collective call as soon as it can), "synchronizing" (each collective call is a barrier),
        or both. "synchronizing" is explored only if some call could return early.
    data
        When data of nonblocking operations leave send buffers and arrive in receive buffers: "early", "late" (a receive
        buffer holds a pattern until the call that completes the operation), or both. "late" is explored only if the program
        makes nonblocking calls with buffers; the number of schedules then doubles at most.
    seed
        The seed of random schedules.
    strict
        Whether findings are failures.
    stop
        "first" ends the search at the first failure.
    compare
        "returns": it is a failure if the return values of ranks depend on the schedule. "output": the same for the output of
        each rank. "lines": the same, but the order of the lines may differ. Several of these may be given. Numbers in the
        output that differ between two runs of one schedule, such as times, are not compared.
    seconds
        Real time in seconds after which no run is started.
    reduce
        False also runs schedules that cannot show anything new.
    states
        False also continues from states that were reached before.
    mixing
        The maximum number of choices between the first and the last deviation (bounded mixing); None sets no bound.
    polls
        The maximum number of times in a row that a test or Iprobe reports "not yet" although its request or message is
        there, or other ranks can run. None starts with 2; if the search ends within its budget without a failure, the bound
        grows up to 16 while the budget lasts. `Exploration.limits` names the largest bound that was explored completely.
    ignore_shared
        True assumes that Python objects shared by ranks (global variables, closures, arguments) do not influence the ranks,
        such as a list that only collects results. By default a change of such an object turns all reductions off, and the
        search does not count as exhaustive.
    ignore
        Kinds of findings to suppress, as for `run`. Errors that end a run, such as deadlocks, are failures all the same.
    on_run
        A function called after each run with the `Exploration` so far and the number of pending edges of the search tree.
    executor
        A `concurrent.futures.Executor` whose workers run schedules ahead of the search: processes, mpi4py.futures, Dask. The
        result is the same for every number of workers, unless `seconds` ends the search. The program, its arguments
        and `options` must be picklable. Workers discard the output of ranks, and changes that ranks make to Python objects
        stay on the worker. A program whose ranks share objects that change, and a thread pool, run in this process.
    **options
        Further options for each `run`: cost, backend, algorithms, timeout.

    Returns
    -------
    Exploration
        The number of schedules, whether the search was exhaustive, and the failures with their schedules.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.explore(lambda comm: comm.allreduce(1), 3).verdict
    'clean: all 2 schedules'
    """
    kinds_of_outcome = (compare,) if isinstance(compare, str) else tuple(compare or ())
    _check(runs, stop, kinds_of_outcome, mixing, seconds, polls)
    modes = (("buffering", buffering, BUFFERINGS), ("collectives", collectives, COLLECTIVES), ("data", data, DATA))
    scope = Scope(*(_listed(*mode) for mode in modes))

    outcomes = OutcomeComparison(kinds_of_outcome)

    suppressions = Suppressions.of(ignore)
    options_of_run: dict[str, Any] = {**options, "ignore": suppressions}

    def run_once(choices: Choices, **more: Any) -> Any:
        outcomes.output.begin()
        chosen: dict[str, Any] = {**more, **options_of_run}
        return run(main, nprocs, *args, schedule=choices, strict=strict, **chosen)

    shared = SharedObjects(main, args) if reduce and not ignore_shared else None

    def new_tree(mode: LibraryMode) -> SearchTree:
        tree = SearchTree(mode, run_once, reduce, shared, mixing)
        tree.merges, tree.output = reduce and states, outcomes.output
        return tree

    search = Search(scope, new_tree, run_once, stop, outcomes, on_run)
    if executor is not None:
        if not callable(getattr(executor, "submit", None)):
            words = f"explore: executor must be a concurrent.futures.Executor or None, not {executor!r}."
            raise MPITypeError(ERR_ARG, words)
        sent = SentProgram(main, nprocs, args, options_of_run, strict, kinds_of_outcome, shared is not None)
        search.use_workers(Workers(executor, sent, search.suffices))
    until = None if seconds is None else monotonic() + seconds
    if polls is not None:
        search.bound_polls(polls)

    def rerun_slowly(token: str) -> None:
        outcomes.output.begin()
        slow: dict[str, Any] = {**options_of_run, "cost": Hockney(t_s=SLOW_SECONDS)}
        run(main, nprocs, *args, schedule=Replay(token), strict=strict, **slow)

    outcomes.rerun = rerun_slowly
    try:
        with outcomes.recorded():
            search.explore_trees(runs, until, 2 * (runs // BUDGET_PARTS))
            search.explore_by_mixing(runs, until, runs // BUDGET_PARTS)
            if polls is None:
                search.deepen(runs, until)
            if not search.stopped and not search.exhausted:
                search.run_random_schedules(runs, until, seed or 0)
            exploration = search.conclude()
            exploration.suppressed = sorted({f"{rule.kind} ({rule.text})" for rule in suppressions.used})
            exploration.unused_suppressions = suppressions.unused_by(main, strict)
            return exploration
    except BrokenExecutor as error:
        raise broken(error) from None
    finally:
        if search.workers is not None:
            search.workers.cancel()


def _listed(name: str, given: str | Sequence[str], known: Sequence[str]) -> list[str]:
    kinds = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    for kind in kinds or ["()"]:
        if kind not in known:
            *first, last = known
            raise MPIValueError(ERR_ARG, f"explore: {name} {kind} is unknown; choose from {', '.join(first)} and {last}.")
    return kinds


def _check(runs: Any, stop: Any, compare: Any, mixing: Any, seconds: Any, polls: Any) -> None:
    if isinstance(runs, bool) or not isinstance(runs, int):
        raise MPITypeError(ERR_ARG, f"explore: runs must be an integer, not {runs!r}.")
    if runs < 1:
        raise MPIValueError(ERR_ARG, f"explore: runs is {runs}; it must be at least 1.")
    if mixing is not None and (isinstance(mixing, bool) or not isinstance(mixing, int) or mixing < 0):
        raise MPIValueError(ERR_ARG, f"explore: mixing must be a number of choices, 0 or more, or None, not {mixing!r}.")
    if polls is not None and (isinstance(polls, bool) or not isinstance(polls, int) or polls < 0):
        raise MPIValueError(ERR_ARG, f"explore: polls must be an integer, 0 or more, or None, not {polls!r}.")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) > 0):
        raise MPIValueError(ERR_ARG, f"explore: seconds must be a positive number of seconds, or None, not {seconds!r}.")
    if stop not in (None, "first"):
        raise MPIValueError(ERR_ARG, f"explore: stop must be 'first' or None, not {stop!r}.")
    for kind in compare:
        if kind not in COMPARED:
            raise MPIValueError(ERR_ARG, f"explore: compare must be {', '.join(map(repr, COMPARED))} or None, not {kind!r}.")
