"""The composition root: builds a universe, starts its ranks, and returns what became of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from random import Random
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import fakempi.mpi.comms.topocomm  # noqa: F401  so that communicators can make topologies, whatever the program imports
from fakempi import arguments, on_demand
from fakempi.arguments import NOT_BEGUN, has_not_begun, no_thread, out_of, without_thread
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError, RankError, RunError
from fakempi.kernel.loop import Carrier, Ended, Loop
from fakempi.mpi.base.complain import is_ours
from fakempi.mpi.base.current import current_process, here
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.comms.birth import new_world
from fakempi.mpi.comms.disconnect import excuse
from fakempi.mpi.evidence.ending import conclude
from fakempi.mpi.evidence.polling import Vain
from fakempi.mpi.failures.death import DETECTION, schedule
from fakempi.mpi.failures.parking import unpark
from fakempi.mpi.point.arrival import matched
from fakempi.patience import patient_collector
from fakempi.threads.changes import among_threads
from fakempi.threads.ending import finish, helped_from_outside
from fakempi.threads.granting import chosen_grants
from fakempi.trace.record import Trace
from fakempi.trace.recorder import Recorder
from fakempi.trace.rounds import rounds
from fakempi.traces import shown, told
from fakempi.wire.cost import CostModel
from fakempi.wire.delivery import Delivery
from fakempi.wire.express import Express
from fakempi.wire.guard import Guard, trusted
from fakempi.wire.models.free import Free

if TYPE_CHECKING:
    from fakempi.choices.choices import Choices


class Run:
    """What became of a run.

    Attributes
    ----------
    returns
        What `main` returned, by rank; of processes that were spawned nothing is kept.
    clocks
        Each rank's virtual clock when it ended, in seconds; those of spawned processes come after, in order of birth.
    time
        The largest of them, the modelled makespan.
    computing
        The factor by which measured CPU time is part of these clocks, which are then others in each run; else 0.
    messages, bytes
        How many were transferred.
    sent, received
        (messages, bytes) by rank, in the order of clocks.
    trace
        What happened, if asked for, else None.
    findings
        What is wrong with the program and did not stop it, the worst first: a list of `Finding`.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.bcast("work"), 4, cost=fakempi.Hockney(t_s=1, t_w=0))
    <Run: 4 ranks, time 4 s, 6 messages, 81 bytes>
    """

    def __init__(self, universe: Universe, returns: list[Any], recorder: Recorder | None) -> None:
        out, into = universe.wire.out, universe.wire.into
        self.returns = returns
        self.clocks = [process.task.clock for process in universe.processes]
        self.time = max(self.clocks)
        self.sent = [(port.sent, port.bytes_sent) for port in out]
        self.received = [(port.received, port.bytes_received) for port in into]
        self.computing = universe.computing
        self.messages = sum(port.sent for port in out)
        self.bytes = sum(port.bytes_sent for port in out)
        self.trace = _trace(universe, recorder)
        self.findings = universe.ledger.findings()

    @property
    def rounds(self) -> int:
        """Transfers on the longest chain of transfers that wait for one another; needs `trace=True`."""
        if self.trace is None:
            raise MPIValueError(ERR_ARG, "rounds are counted from the trace: run(..., trace=True).")
        return rounds(self.trace)

    def _repr_html_(self) -> str | None:
        """In a notebook: what happened, if that was recorded."""
        return None if self.trace is None else self.trace._repr_html_()

    def __repr__(self) -> str:
        time = float(self.time)  # a Fraction has no .6g before Python 3.12
        spawned = len(self.clocks) - len(self.returns)
        ranks = f"{len(self.returns)} ranks{f' and {spawned} spawned' if spawned else ''}"
        measured = f" with measured computing times {self.computing:g}" if self.computing else ""
        return f"<Run: {ranks}, time {time:.6g} s{measured}, {self.messages} messages, {self.bytes} bytes>"


def run(
    main: Callable[..., Any],
    nprocs: int,
    *args: Any,
    cost: CostModel | str | None = None,
    carrier: str = "auto",
    trace: bool = False,
    seed: int | None = None,
    algorithms: Any = None,
    strict: bool = False,
    progress: bool | str = False,
    timeout: float | None = None,
    computing: float = 0.0,
    kill: Mapping[int, float] | None = None,
    detection: float = DETECTION,
    buffers: bool | None = None,
    poll: float = 1e-6,
    decisions: str | Choices | None = None,
    paper: str = "auto",
) -> Run:
    """Call `main(comm, *args)` on every one of `nprocs` virtual ranks and return what became of them.

    Parameters
    ----------
    main
        What every rank calls, with its communicator as the first argument.
    nprocs
        How many ranks.
    *args
        What else `main` is handed.
    cost
        The cost model, or what one types for it on the command line: "hockney:t_s=1e-6", "./tree.py:Tree(arity=4)";
        Hockney with 1 microsecond and 1 GB/s unless given.
    carrier
        "greenlets" (fast, an extra), "threads" (always there), or "auto" for the first of them that is there.
    trace
        Whether to record what happens: messages, computing, and collectives, each with its place in the program.
    seed
        Break ties at random, the same way for the same seed, to see other schedules; None is booking order.
    algorithms
        Which collective algorithms to use: "plain" (the default), "mpich", "openmpi", or a mapping such as {"allgather":
        "ring", "bcast": ("chain", {"segment_bytes": 4096})}, which is refused where it does not fit; in place of a name
        an `Algorithm`, or the path of a file that defines ALGORITHM; between two groups {"inter:allgather":
        ("full_duplex", {"allgatherv": ("blocked_ring", {"block_bytes": 4096})})}; {"split": "bitonic"} makes Split,
        Split_type and Create take the time of an algorithm, and {"create_group": "chain"}, likewise "create_intercomm"
        and "merge", these; otherwise they take none.
    strict
        Whether findings are failures: FindingsError at the end, or at once where wrong data would flow; arrays in use are
        read-only, so that who writes to one stops at that line. More is looked for, too: what mpi4py programs leave to
        the garbage collector, ready-mode sends without a receive, and ends of a distributed graph that do not match.
    progress
        Whether to show on a terminal how far it is; "always" writes a line now and then where there is none.
    timeout
        Seconds of real time after which the run is ended.
    computing
        Charge the CPU time that a rank takes between two MPI calls, times this factor, to its clock; measured, and so not
        the same in each run; 0, the default, charges nothing but what `fakempi.compute` says.
    kill
        Ranks that die, and when, in modelled seconds: {3: 2.5e-3}; who deals with them gets ERR_PROC_FAILED.
    detection
        Modelled seconds from a rank's death until the others know.
    buffers
        Whether to look for programs that write to memory while an operation on it is under way, which takes a few
        microseconds for each request, and a copy of its memory; None, the default, does so in strict runs.
    poll
        Modelled seconds that a look in vain takes (Test, Iprobe ...) once nothing else can happen, so that time-outs end;
        as long as anything else can, it takes none.
    decisions
        A schedule that `fakempi.explore` or `fakempi check` has printed, such as "z:0.0.2.1": what MPI leaves open is
        decided as it says, and not by time; messages cost nothing unless `cost` is given.
    paper
        "auto", the default, carries out collective calls in one piece, without messages, where that gives exactly the same
        results, clocks and counters; "never" does so nowhere; "always" refuses calls for which that is not possible.

    Returns
    -------
    Run
        What every rank returned, the modelled time, messages and bytes; on request what happened when.

    Raises
    ------
    RunError
        Its kinds: RankError (a rank raised), DeadlockError and LivelockError (nothing can ever happen again), RunTimeout,
        FindingsError (the run was strict), ScheduleError (the decisions do not fit). They say who, where and why.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Get_rank() ** 2, 4).returns
    [0, 1, 4, 9]
    """
    choices = None if decisions is None else on_demand.steering(decisions, seed, computing)
    model = arguments.checked(main, nprocs, cost if choices is None else cost or Free())
    if choices is not None:
        model = choices.buffered(model)
    watched = progress is not False or timeout is not None
    if watched:
        arguments.check_watch(progress, timeout)
    loop = Loop(make_carrier(carrier)) if choices is None else on_demand.steered(make_carrier(carrier), choices)
    recorder = Recorder(loop, _not_the_program) if trace else None
    universe = Universe(loop, make_wire(loop, model, recorder, choices), model, algorithms, strict)
    if choices is not None:
        choices.steer(universe)
    if not trusted(model):
        _guard(universe)
    universe.recorder, universe.program = recorder, on_demand.script
    universe.computing = arguments.factor("computing", computing)
    if arguments.on_paper(paper):
        universe.paper = on_demand.hall(universe, paper == "always")
    if strict if buffers is None else buffers:
        on_demand.pin(universe)
    loop.vain = Vain(universe, arguments.seconds("poll", poll))
    returns: list[Any] = [None] * nprocs
    universe.launch = partial(_launch, returns)

    program = (lambda comm: main(comm, *args)) if args else main  # a frame less on every rank's stack
    with patient_collector(nprocs):
        try:
            for process in new_world(universe, nprocs):
                universe.launch(process, program)
        except MemoryError as error:
            raise out_of(error, nprocs) from None
        universe.detection, universe.excuse = detection, partial(excuse, universe)
        if kill is not None:
            schedule(universe, kill)
        if seed is not None:
            loop.shuffle = Random(seed).shuffle
            loop.shuffle(loop.today)
        outer = current_process()
        before, here.loop = here.loop, loop
        try:
            if outer is not None:
                outer.universe.inner = universe
            measures = on_demand.metered(universe) if universe.computing else nullcontext()
            grants = nullcontext() if choices is None else chosen_grants(loop)
            watch = on_demand.watch(universe, progress, timeout) if watched else nullcontext()
            with on_demand.interrupts(universe), among_threads(loop), measures, grants, watch:
                _drive(universe)
        except RunError as error:
            error.trace, error.findings = _trace(universe, recorder, error), universe.ledger.findings()
            raise
        except (MemoryError, RuntimeError) as error:  # before any rank had the baton, or between two
            raise out_of(error, nprocs) from error
        finally:
            if universe.pins is not None:
                universe.pins.end()
            here.loop = before
            if outer is not None:
                outer.universe.inner = None
        return Run(universe, returns, recorder)


def _trace(universe: Universe, recorder: Recorder | None, error: RunError | None = None) -> Trace | None:
    """What happened, to all processes, also those that the program has spawned, and how it ended."""
    if recorder is None:
        return None
    trace = shown(Trace.of(recorder, [process.task.clock for process in universe.processes]))
    trace.about = told(universe.cost, universe.ledger.findings(), error)
    return trace


def _not_the_program(frame: FrameType) -> bool:
    """Whether a frame is ours, or the bottom of a thread, which a greenlet does not have."""
    return is_ours(frame) or frame.f_globals.get("__name__") == "threading"


def _guard(universe: Universe) -> None:
    """Look at what a model of somebody's own says. If that makes no sense the run is over, and no rank is to blame."""

    def refuse(sentence: str, error: BaseException | None) -> NoReturn:
        verdict = RunError(sentence)
        verdict.__cause__ = error
        universe.end(verdict)
        raise Ended

    guard = Guard(universe.cost, refuse)
    ports = universe.wire.ports
    universe.wire.price, ports.node = guard.transfer, guard.node
    ports.links_of, ports.link_of = guard.route, guard.link


def make_carrier(name: str) -> Carrier:
    """The carrier of that name; errors say what there is and what to install."""
    if name not in ("auto", "greenlets", "threads"):
        raise MPIValueError(ERR_ARG, f"run: carrier {name!r} is unknown; there are 'auto', 'greenlets' and 'threads'.")
    if name != "threads":
        try:
            from fakempi.kernel.greenlets import Greenlets

            return Greenlets()
        except ImportError as error:
            if name == "greenlets":
                raise MPIValueError(
                    ERR_ARG,
                    "run: carrier 'greenlets' needs the package greenlet, which is not installed: "
                    "pip install 'fakempi[fast]', or use carrier='threads'.",
                ) from error
    from fakempi.kernel.threads import Threads

    return Threads(_enter, current_frames)


def make_wire(loop: Loop, cost: CostModel, recorder: Recorder | None, choices: Choices | None = None) -> Delivery:
    """The express way if it serves, else the ordinary one; watched if there is a recorder."""
    made = (Express if Express.serves(cost) else Delivery) if choices is None else choices.delivery
    wire: Delivery = made(loop, cost, matched)
    if recorder is not None:
        recorder.watch(wire)
    return wire


def _enter(loop: Loop) -> None:
    """First thing in each thread of a run: say whose it is."""
    here.loop = loop


def _launch(returns: list[Any], process: Process, main: Callable[[Any], Any]) -> None:
    """Have a process call main with its world from now on; if that fails, so does the run.

    What it returns is kept if the process is in the world that was started: ranks there are the first numbers.
    """
    universe = process.universe
    if universe.computing:
        main = on_demand.measured(process, main)

    def program() -> None:
        try:
            result = main(process.comm_world)
            if process.number < len(returns):
                returns[process.number] = result
                if isinstance(result, NOT_BEGUN) and (words := has_not_begun(process.name, result)):
                    universe.end(MPITypeError(ERR_ARG, words))
                    raise Ended
            if process.threads:
                finish(process)
        except Ended:
            raise
        except SystemExit as error:
            if error.code not in (None, 0):
                universe.fail(process, error)
            elif process.threads:
                finish(process)
        except BaseException as error:
            if all(error is not failure for _, failure in universe.failures):
                universe.fail(process, error)
        if universe.partings:
            excuse(universe, process.number)

    process.start(program)


def _drive(universe: Universe) -> None:
    """Run to the end; where that is not reached, end all that is left and raise what there is to say."""
    loop = universe.loop
    try:
        loop.carrier.drive(loop)
        while loop.tasks and ((universe.paper and universe.paper.give_up()) or helped_from_outside(loop)):
            loop.carrier.drive(loop)
        if not universe.failures and universe.verdict is None:
            universe.verdict = conclude(universe)
    except BaseException as reason:
        if universe.verdict is None and not isinstance(reason, Ended):  # which comes while no rank has the baton
            raise
        universe.decide(reason)  # unless it is known why the run ends: a call that was cut off may fail in any way
    finally:
        if universe.paper is not None:
            universe.paper.settle()
        universe.close()
        unpark(universe)
        _unwind(loop)
        for process, time in universe.dead.values():
            process.task.clock = time
    if universe.verdict is not None:
        raise universe.verdict
    if universe.failures:
        (process, error), *others = universe.failures
        if isinstance(error, KeyboardInterrupt):
            raise error
        if without_thread(error):
            begun = sum(one.task.handle is not None for one in universe.processes)
            raise RunError(no_thread(len(universe.processes), begun)) from error
        names = {one.number: one.name for one, _ in universe.failures}
        raise RankError(process.number, error, [(other.number, failure) for other, failure in others], names) from error


def _unwind(loop: Loop) -> None:
    """End all that is left, though somebody may be told to end by its time-out in the middle of it."""
    while True:
        try:
            loop.unwind()
            return loop.carrier.close()
        except Ended:
            continue
