"""The composition root: builds a universe, starts its ranks, and returns what became of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from random import Random
from threading import Lock
from types import FrameType
from typing import Any, NoReturn

import fakempi.mpi.comms.topocomm  # noqa: F401  so that communicators can make topologies, whatever the program imports
from fakempi import arguments
from fakempi import computing as metering
from fakempi.arguments import NOT_BEGUN, has_not_begun, no_thread, out_of, without_thread
from fakempi.choices.choices import Choices
from fakempi.choices.steering import steering
from fakempi.choices.wire import OpenLoop
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError, RankError, RunError
from fakempi.kernel.loop import Carrier, Ended, Loop
from fakempi.mpi.base.complain import is_ours
from fakempi.mpi.base.current import current_process, here
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.buffers.pins import Watch
from fakempi.mpi.comms.birth import new_world
from fakempi.mpi.comms.disconnect import excuse
from fakempi.mpi.evidence.ending import conclude
from fakempi.mpi.evidence.polling import Vain
from fakempi.mpi.failures.death import DETECTION, schedule
from fakempi.mpi.failures.parking import unpark
from fakempi.mpi.point.arrival import matched
from fakempi.paper.hall import Hall
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


class Run:
    """What became of a run.

    Attributes
    ----------
    returns : what `main` returned, by rank; of processes that were spawned nothing is kept
    clocks : each rank's virtual clock when it ended, in seconds; those of spawned processes come after, in order of birth
    time : the largest of them, the modelled makespan
    computing : the factor by which measured CPU time is part of these clocks, which are then others in each run; else 0
    messages, bytes : how many were transferred
    sent, received : (messages, bytes) by rank, in the order of clocks
    trace : what happened, if asked for, else None
    findings : what is wrong with the program and did not stop it, the worst first: a list of `Finding`
    rounds : transfers on the longest chain of those that wait for one another, if there is a trace
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
        return rounds(self.trace.transfer_rows)

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
    paper: str = "never",
) -> Run:
    """Call `main(comm, *args)` on every one of `nprocs` virtual ranks and return what became of them.

    Parameters
    ----------
    cost : the cost model, or what one types for it on the command line: "hockney:t_s=1e-6", "./tree.py:Tree(arity=4)";
        Hockney with 1 microsecond and 1 GB/s unless given
    carrier : "greenlets" (fast, an extra), "threads" (always there), or "auto" for the first of them that is there
    trace : whether to record what happens: messages, computing, and collectives, each with its place in the program
    seed : break ties at random, the same way for the same seed, to see other schedules; None is booking order
    algorithms : which collective algorithms to use: "plain" (the default), "mpich", "openmpi", or a mapping such as
        {"allgather": "ring", "bcast": ("chain", {"segment_bytes": 4096})}, which is refused where it does not fit; in place
        of a name an `Algorithm`, or the path of a file that defines ALGORITHM; between two groups
        {"inter:allgather": ("full_duplex", {"allgatherv": ("blocked_ring", {"block_bytes": 4096})})}; {"split": "bitonic"}
        makes Split, Split_type and Create take the time of an algorithm, and {"create_group": "chain"}, likewise
        "create_intercomm" and "merge", these; otherwise they take none
    strict : whether findings are failures: FindingsError at the end, or at once where wrong data would flow; arrays in use
        are read-only, so that who writes to one stops at that line. More is looked for, too: what mpi4py programs leave to
        the garbage collector, ready-mode sends without a receive, and ends of a distributed graph that do not match
    progress : whether to show on a terminal how far it is; "always" writes a line now and then where there is none
    timeout : seconds of real time after which the run is ended
    computing : charge the CPU time that a rank takes between two MPI calls, times this factor, to its clock; measured, and
        so not the same in each run; 0, the default, charges nothing but what `fakempi.compute` says
    kill : ranks that die, and when, in modelled seconds: {3: 2.5e-3}; who deals with them gets ERR_PROC_FAILED
    detection : modelled seconds from a rank's death until the others know
    buffers : whether to look for programs that write to memory while an operation on it is under way, which takes a few
        microseconds for each request, and a copy of its memory; None, the default, does so in strict runs
    poll : modelled seconds that a look in vain takes (Test, Iprobe ...) once nothing else can happen, so that time-outs end;
        as long as anything else can, it takes none
    decisions : a schedule that `fakempi.explore` or `fakempi check` has printed, such as "z:0.0.2.1": what MPI leaves open
        is decided as it says, and not by time; messages cost nothing unless `cost` is given
    paper : "auto" carries out collective calls in one piece, without messages, where that gives exactly the same results,
        clocks and counters; "never" does so nowhere; "always" refuses calls for which it is not possible, and says why

    Raises
    ------
    RankError : a rank raised; it has the rank, the exception and the true traceback
    DeadlockError, LivelockError : nothing can ever happen again; they say who waits for what, and where
    RunTimeout : it was not done in time; it says where every rank was
    FindingsError : the run was strict, and something is wrong
    ScheduleError : the decisions do not fit the program
    """
    choices = None if decisions is None else steering(decisions, seed, computing)
    model = arguments.checked(main, nprocs, cost if choices is None else cost or Free())
    if choices is not None:
        model = choices.buffered(model)
    watched = progress is not False or timeout is not None
    if watched:
        arguments.check_watch(progress, timeout)
    loop = Loop(make_carrier(carrier)) if choices is None else OpenLoop(make_carrier(carrier), choices)
    recorder = Recorder(loop, _not_the_program) if trace else None
    universe = Universe(loop, make_wire(loop, model, recorder, choices), model, algorithms, strict)
    if choices is not None:
        choices.steer(universe)
    if not trusted(model):
        _guard(universe)
    universe.recorder, universe.program = recorder, _script
    universe.computing = metering.checked(computing)
    if arguments.on_paper(paper):
        universe.paper = Hall(universe, paper == "always")
    if strict if buffers is None else buffers:
        universe.pins = Watch(universe, universe.wire.matched)
        universe.wire.matched = universe.pins.matched
    loop.vain = Vain(universe, arguments.seconds("poll", poll))
    returns: list[Any] = [None] * nprocs
    universe.launch = partial(_launch, returns)
    try:
        for process in new_world(universe, nprocs):
            universe.launch(process, lambda comm: main(comm, *args))
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
        measures = metering.metered(universe) if universe.computing else nullcontext()
        grants = nullcontext() if choices is None else chosen_grants(loop)
        watch = _watch(universe, progress, timeout) if watched else nullcontext()
        with _patient_collector(nprocs), among_threads(loop), measures, grants, watch:
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


def _watch(universe: Universe, progress: bool | str, timeout: float | None) -> AbstractContextManager[None]:
    """What looks after the run."""
    from fakempi.watch.watching import Watch  # not before it is needed

    return Watch(universe, timeout, progress)


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
        main = metering.measured(process, main)

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


def _script(command: Sequence[str]) -> Callable[[Any], Any]:
    """What a rank runs that is to run a script, given as typed after `python`."""
    from fakempi.script.program import program  # not before it is needed

    return program(command)


def _drive(universe: Universe) -> None:
    """Run to the end; where that is not reached, end all that is left and raise what there is to say."""
    loop = universe.loop
    try:
        loop.carrier.drive(loop)
        while loop.tasks and ((universe.paper and universe.paper.give_up()) or helped_from_outside(loop)):
            loop.carrier.drive(loop)
        if not universe.failures and universe.verdict is None:
            universe.verdict = conclude(universe)
    except Ended as ended:  # while no rank had the baton
        universe.decide(ended)
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


class _Patience:
    """How often the garbage collector looks: less often while anybody runs many ranks, for nearly all it sees is alive.

    The threshold belongs to the whole process, so runs that overlap share it: the last to end puts it back.
    """

    lock = Lock()
    runs = 0
    before: tuple[int, int, int] = gc.get_threshold()


@contextmanager
def _patient_collector(nprocs: int) -> Iterator[None]:
    with _Patience.lock:
        if not _Patience.runs:
            _Patience.before = gc.get_threshold()
        _Patience.runs += 1
        first, *others = gc.get_threshold()
        if first:  # 0 means that the program has switched it off
            gc.set_threshold(max(first, 20 * nprocs), *others)
    try:
        yield
    finally:
        with _Patience.lock:
            _Patience.runs -= 1
            if not _Patience.runs:
                gc.set_threshold(*_Patience.before)
