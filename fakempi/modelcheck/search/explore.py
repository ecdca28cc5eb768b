"""`explore`: run a program in every schedule that can give a different result, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from fakempi.core.arguments import PassedOptions, RunOptions
from fakempi.core.gc_tuning import fewer_collections
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.reports.suppressions import Suppressions
from fakempi.core.world import run
from fakempi.modelcheck.search.exploration import Exploration
from fakempi.modelcheck.search.jobs import ExploredProgram, SentProgram
from fakempi.modelcheck.search.options import Compared, SearchOptions
from fakempi.modelcheck.search.outcomes import SLOW_SECONDS, OutcomeComparison
from fakempi.modelcheck.search.progress import Search
from fakempi.modelcheck.search.search import SearchTree
from fakempi.modelcheck.search.shared_objects import SharedObjects
from fakempi.modelcheck.search.workers import Workers, broken
from fakempi.modelcheck.steering.choices import Choices
from fakempi.modelcheck.steering.replay import Replay
from fakempi.modelcheck.steering.token import BUFFERINGS, COLLECTIVES, DATA, LibraryMode

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from fakempi.core.arguments import Ts
    from fakempi.modelcheck.steering.token import Buffering, CollectiveMode, DataMode
    from fakempi.mpi.comms.intracomm import Intracomm

BUDGET_PARTS = 4
"""If the budget is too small, 1/BUDGET_PARTS of it is used for bounded mixing, and 1/BUDGET_PARTS for random schedules."""

NPROCS_OF_THRESHOLD = 250
"""Collect garbage after 5,000 new objects, as in a run of this size: about every tenth small run leaves as many, in cycles.

After 700 objects, Python's default, most collections take place in the middle of a run and find nothing; they took 15 % of
the time of a run of 4 ranks with 12 messages.
"""


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
    **options: Unpack[PassedOptions],
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
    search = SearchOptions(
        runs, buffering, collectives, data, seed, stop, compare, seconds, reduce, states, mixing, polls, ignore_shared,
        on_run, executor,
    )  # fmt: skip
    if unknown := options.keys() - PassedOptions.__annotations__.keys():
        raise TypeError(f"explore() got an unexpected keyword argument {min(unknown)!r}")
    return explore_with(search, RunOptions(strict=strict, ignore=ignore, **options), main, nprocs, args)


def explore_with(
    options: SearchOptions, of_runs: RunOptions, main: Callable[..., object], nprocs: int, args: tuple[Any, ...] = ()
) -> Exploration:
    """Run `main(comm, *args)` on each of `nprocs` ranks in every schedule, as `explore` does."""
    suppressions = of_runs.suppressions  # one object for all runs
    program = ExploredProgram(main, nprocs, args, replace(of_runs, ignore=suppressions))
    outcomes = OutcomeComparison(options.compared)

    def run_once(choices: Choices, **more: Any) -> Any:
        outcomes.output.begin()
        return program.run(choices, **more)

    shared = SharedObjects(main, args) if options.reduce and not options.ignore_shared else None

    def new_tree(mode: LibraryMode) -> SearchTree:
        tree = SearchTree(mode, run_once, options.reduce, shared, options.mixing)
        tree.merges, tree.output = options.reduce and options.states, outcomes.output
        return tree

    def rerun_slowly(token: str) -> None:
        outcomes.output.begin()
        run(main, nprocs, *args, **replace(program.options, schedule=Replay(token), cost=Hockney(t_s=SLOW_SECONDS)))

    outcomes.rerun = rerun_slowly
    search = Search(options.scope(), new_tree, run_once, options.stop, outcomes, options.on_run)
    if options.executor is not None:
        sent = SentProgram(program, options.compared, shared is not None)
        search.use_workers(Workers(options.executor, sent, search.suffices))
    try:
        with outcomes.recorded(), fewer_collections(NPROCS_OF_THRESHOLD):
            exploration = _results(search, options)
    except BrokenExecutor as error:
        raise broken(error) from None
    finally:
        if search.workers is not None:
            search.workers.cancel()
    exploration.suppressed = sorted({f"{rule.kind} ({rule.text})" for rule in suppressions.used})
    exploration.unused_suppressions = suppressions.unused_by(main, of_runs.strict)
    return exploration


def _results(search: Search, options: SearchOptions) -> Exploration:
    """Search within the budget: fewest deviations first, then by bounded mixing, then at random."""
    runs, until = options.runs, None if options.seconds is None else monotonic() + options.seconds
    if options.polls is not None:
        search.bound_polls(options.polls)
    search.explore_trees(runs, until, 2 * (runs // BUDGET_PARTS))
    search.explore_by_mixing(runs, until, runs // BUDGET_PARTS)
    if options.polls is None:
        search.deepen(runs, until)
    if not search.stopped and not search.exhausted:
        search.run_random_schedules(runs, until, options.seed or 0)
    return search.conclude()
