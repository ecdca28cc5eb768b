"""The composition root: `run` builds a universe from its parts, starts the ranks, and returns a `Run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

import fakempi.mpi.comms.topocomm  # noqa: F401  so that communicators can create topologies in every program
from fakempi.core.arguments import DETECTION_DELAY, Algorithms, RunOptions, T, check_threads, checked_cost
from fakempi.core.features import (
    cpu_time,
    monitored_run,
    recorded_calls,
    register,
    register_with_processes,
    stop_requests,
)
from fakempi.core.gc_tuning import fewer_collections
from fakempi.core.kernel.loop import Backend, Ended, Loop
from fakempi.core.launching import launch
from fakempi.core.network.cost import CostModel
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.express import Express
from fakempi.core.network.models.zero_cost import ZeroCost
from fakempi.core.reports.suppressions import Suppressions, source_files
from fakempi.core.run_result import Run, rank_failure, recorded_trace, resource_error
from fakempi.core.seeded import SeededDelivery
from fakempi.core.stack_depth import deeper_stack
from fakempi.errors import FindingsError, MPIValueError, RunError
from fakempi.errors.classes import ERR_ARG
from fakempi.extensions.threads.changes import threads_as_tasks
from fakempi.extensions.threads.ending import wake_any_task
from fakempi.extensions.threads.granting import chosen_grants
from fakempi.extensions.threads.measuring import needs_threads
from fakempi.mpi.base.call_site import is_ours
from fakempi.mpi.base.current import active_run, os_thread
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Universe
from fakempi.mpi.comms.process_creation import new_world
from fakempi.mpi.diagnostics.ending import conclude
from fakempi.mpi.diagnostics.last_state import record_last_state
from fakempi.mpi.failures.parking import unpark
from fakempi.mpi.point.arrival import matched

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from fakempi.core.arguments import BackendName, CheckBuffers, Fused, Progress, Ts
    from fakempi.modelcheck.steering.choices import Choices
    from fakempi.mpi.comms.intracomm import Intracomm
    from fakempi.trace.recorder import TraceRecorder


ZERO_COST = ZeroCost()  # copied by each run that follows a schedule


def run(
    main: Callable[[Intracomm, Unpack[Ts]], T],
    nprocs: int,
    *args: Unpack[Ts],
    cost: CostModel | str | None = None,
    backend: BackendName = "auto",
    trace: bool = False,
    seed: int | None = None,
    algorithms: Algorithms = None,
    strict: bool = False,
    progress: Progress = False,
    timeout: float | None = None,
    cpu_scale: float = 0.0,
    kill: Mapping[int, float] | None = None,
    detection_delay: float = DETECTION_DELAY,
    check_buffers: CheckBuffers = None,
    poll_cost: float = 1e-6,
    schedule: str | Choices | None = None,
    fused: Fused = "auto",
    ignore: str | Sequence[str] | Suppressions | None = None,
) -> Run[T]:
    """Call `main(comm, *args)` on each of `nprocs` virtual ranks, and return the results.

    Parameters
    ----------
    main
        The function that every rank calls. Its first argument is the rank's communicator.
    nprocs
        The number of ranks.
    *args
        Further arguments of `main`.
    cost
        The cost model, or its text as on the command line: "hockney:t_s=1e-6", "./tree.py:Tree(arity=4)". The default is
        Hockney with 1 microsecond and 1 GB/s.
    backend
        "greenlets" (fast; needs the package greenlet), "threads" (always available), or "auto": greenlets if installed,
        except while coverage.py measures without `concurrency = greenlet`.
    trace
        Whether to record messages, computing and collective calls, each with its line in the program.
    seed
        Break ties between ranks with equal clocks at random, in the same way for the same seed, to see other schedules.
        None: in the order in which the ranks were scheduled.
    algorithms
        The collective algorithms: "plain" (the default), "mpich", "openmpi", or a mapping such as {"allgather":
        "ring", "bcast": ("chain", {"segment_bytes": 4096})}. An algorithm that does not support a call raises an error. A
        value may be a name, an `Algorithm`, or the path of a file that defines ALGORITHM. For intercommunicators:
        {"inter:allgather": ("full_duplex", {"allgatherv": ("blocked_ring", {"block_bytes": 4096})})}. {"split": "bitonic"}
        makes Split, Split_type and Create take the time of that algorithm; "create_group", "create_intercomm" and "merge"
        do the same for these calls. Otherwise they take no time.
    strict
        Whether findings are failures: FindingsError at the end of the run, or at once if wrong data would be used. Arrays in
        use are read-only, so that a program that writes to one stops at that line. More is checked: objects that mpi4py
        programs leave to the garbage collector, ready-mode sends without a posted receive, and ends of a distributed graph
        that do not match.
    progress
        Whether to show the progress on a terminal; "always" also writes a line periodically if there is no terminal.
    timeout
        Seconds of real time after which the run is ended.
    cpu_scale
        Add the CPU time between two MPI calls of a rank, times this factor, to the rank's clock. It is measured, so clocks
        differ from run to run. 0, the default: only `fakempi.compute` adds computing time.
    kill
        Ranks that die, and the modeled time at which each does: {3: 2.5e-3}. Calls that involve them fail with
        ERR_PROC_FAILED.
    detection_delay
        Modeled seconds from the death of a rank until other ranks detect it.
    check_buffers
        Whether to check that the program does not write to memory that a pending operation uses. Each request then takes a
        few microseconds more, and memory for a copy of its buffer. "sends": only buffers of sends, with limits that keep
        the cost small (see docs/findings.md). None, the default: in strict runs.
    poll_cost
        Modeled seconds of an unsuccessful test or probe when no other rank can run, so that loops with a time-out end.
        While other ranks can run, polls take no time.
    schedule
        A schedule token that `fakempi.explore` or `fakempi check` has printed, such as "z:0.0.2.1". It determines the
        choices that MPI leaves open; time does not. Messages take no time unless `cost` is given.
    fused
        "auto", the default: simulate a collective call from the schedule of its algorithm, without running the algorithm's
        code, if results, clocks and counters are exactly the same. "never": emulate all calls. "always": raise an error if
        a call cannot be fused.
    ignore
        Kinds of findings to suppress, in addition to those that comments (`# fakempi: ignore[message-lost]`) and
        pyproject.toml suppress.

    Returns
    -------
    Run
        The return values, the modeled time, the numbers of messages and bytes, the findings, and the trace if requested.

    Raises
    ------
    RunError
        Subclasses: RankError (a rank raised an exception), DeadlockError and LivelockError (no rank can make progress),
        RunTimeoutError, FindingsError (in a strict run), ScheduleError (the schedule does not fit the program).

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Get_rank() ** 2, 4).returns
    [0, 1, 4, 9]
    """
    __tracebackhide__ = True  # for IPython and pytest
    options = RunOptions(
        cost, backend, trace, seed, algorithms, strict, progress, timeout, cpu_scale, kill, detection_delay, check_buffers,
        poll_cost, schedule, fused, ignore,
    )  # fmt: skip
    return run_with(options, main, nprocs, args)


def run_with(options: RunOptions, main: Callable[..., T], nprocs: int, args: tuple[Any, ...] = ()) -> Run[T]:
    """Call `main(comm, *args)` on each of `nprocs` ranks, as `run` does."""
    __tracebackhide__ = True
    returns: list[Any] = []
    universe = _new_universe(options, main, nprocs, returns)
    returns += [None] * nprocs
    suppressions, strict = options.suppressions, options.strict
    # without arguments, `main` itself: one frame less on every stack
    program = (lambda comm: main(comm, *args)) if args else main
    with fewer_collections(nprocs), deeper_stack():
        try:
            for process in new_world(universe, nprocs):
                universe.launch(process, program)
        except MemoryError as error:
            raise resource_error(error, nprocs) from None
        register_with_processes(universe)
        try:
            threads = threads_as_tasks(universe.loop, main, args)
            grants = nullcontext() if universe.choices is None else chosen_grants(universe.loop)
            monitor = monitored_run(universe)
            calls = recorded_calls(universe)  # inside the CPU meter, so that recording is not charged
            with active_run(universe), stop_requests(universe), threads, calls, cpu_time(universe), grants, monitor:
                _drive(universe)
        except RunError as error:
            error.trace, error.findings = recorded_trace(universe, error), universe.ledger.findings()
            error.suppressed = universe.ledger.suppressed_findings()
            if isinstance(error, FindingsError):
                suppressions.check(source_files(main))  # perhaps a finding counts because of a misspelled comment
            raise
        except (MemoryError, RuntimeError) as error:  # while no rank was running
            raise resource_error(error, nprocs) from error
        finally:
            if universe.buffer_checks is not None:
                universe.buffer_checks.end()
        suppressions.check(source_files(main))
        return Run(universe, returns, lambda: suppressions.unused_by(main, strict))


def _new_universe(options: RunOptions, main: Any, nprocs: int, returns: list[Any]) -> Universe:
    """Return the universe of a run, before it has processes, with the features that the options request."""
    choices = None
    if options.schedule is not None:
        from fakempi.modelcheck.steering import replay

        choices = replay.steering(options.schedule, options.seed, options.cpu_scale)
    cost = checked_cost(main, nprocs, options.cost if choices is None else options.cost or None)
    if choices is not None:
        cost = choices.buffered(cost if options.cost else ZERO_COST)
    loop = _make_loop(options.backend, choices)
    recorder = _recorder(loop) if options.trace else None
    network = make_network(loop, cost, recorder, choices, options.seed)
    universe = Universe(
        loop, network, cost, options, choices, recorder, partial(launch, returns), program_of_command=_script
    )  # fmt: skip
    register(universe, nprocs, _emulated)
    return universe


def _script(command: Sequence[str]) -> Callable[[Any], Any]:
    """Return the function that runs a script on a rank; `command` is what follows `python` on a command line."""
    from fakempi.isolation.program import Program

    return Program(command)


def _is_not_of_program(frame: FrameType) -> bool:
    """Return whether a frame is of fakempi, or the first frame of a thread, which a greenlet does not have."""
    return is_ours(frame) or frame.f_globals.get("__name__") == "threading"


def _make_loop(backend: str, choices: Choices | None) -> Loop:
    """Return the loop; if the run follows a schedule, a loop that requests a choice when no task can run."""
    if choices is None:
        return Loop(make_backend(backend))
    from fakempi.modelcheck.steering.network import OpenLoop

    return OpenLoop(make_backend(backend), choices)


def make_backend(name: str) -> Backend:
    """Return the backend of that name."""
    if name not in ("auto", "greenlets", "threads"):
        raise MPIValueError(ERR_ARG, f"run: backend must be 'auto', 'greenlets' or 'threads', not {name!r}.")
    if name == "greenlets" or (name == "auto" and not needs_threads()):
        try:
            from fakempi.core.kernel.greenlets import Greenlets

            return Greenlets()
        except ImportError as error:
            if name == "greenlets":
                raise MPIValueError(
                    ERR_ARG,
                    "run: backend 'greenlets' needs the package greenlet, which is not installed: "
                    "pip install 'fakempi[fast]', or use backend='threads'.",
                ) from error
    check_threads("backend='threads'" if name == "threads" else "running without the package greenlet")
    from fakempi.core.kernel.threads import Threads

    return Threads(_enter, current_frames)


def _recorder(loop: Loop) -> TraceRecorder:
    from fakempi.trace.recorder import TraceRecorder  # runs without a trace start faster

    return TraceRecorder(loop, _is_not_of_program)


def make_network(
    loop: Loop, cost: CostModel, recorder: TraceRecorder | None, choices: Choices | None = None, seed: int | None = None
) -> Delivery:
    """Return the network: `Express` if the cost model permits it, else `Delivery`; observed by the recorder, if any."""
    kind: Any = (Express if Express.serves(cost) else Delivery) if choices is None else choices.delivery
    if seed is not None:
        kind = partial(SeededDelivery, seed)
    network: Delivery = kind(loop, cost, matched)
    if recorder is not None:
        recorder.watch(network)
        recorder.watch_polls(loop)
    return network


def _enter(loop: Loop) -> None:
    os_thread.loop = loop  # the first step of each thread of a run


def _emulated(main: Callable[..., Any], p: int) -> list[Any]:
    """Return the results of `main` on p ranks, in a run without fused calls and without cost."""
    return run(main, p, cost=ZeroCost(), fused="never").returns


def _drive(universe: Universe) -> None:
    """Run all ranks to their end. If they do not reach it, end the remaining tasks and raise the reason."""
    __tracebackhide__ = True
    loop = universe.loop
    try:
        loop.backend.drive(loop)
        while loop.tasks and ((universe.fused and universe.fused.undo_pending()) or wake_any_task(loop)):
            loop.backend.drive(loop)
        if not universe.failures and universe.verdict is None:
            universe.verdict = conclude(universe)
    except BaseException as reason:
        if universe.verdict is None and not isinstance(reason, Ended):  # `Ended` is raised while no rank is running
            raise
        universe.decide(reason)  # no effect if the reason is known: an interrupted call may fail with any error
    finally:
        record_last_state(universe)
        universe.close()
        unpark(universe)
        _unwind(loop)
        universe.finish()
    if universe.verdict is not None:
        raise universe.verdict
    if universe.failures:
        raise rank_failure(universe)


def _unwind(loop: Loop) -> None:
    """End all tasks that are left. Repeat it if the time limit interrupts it with `Ended`."""
    while True:
        try:
            loop.unwind()
            return loop.backend.close()
        except Ended:
            continue
