"""Universe: the state of a run, shared by all its processes. Process: the state of one rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar

import numpy as np

from fakempi.core.arguments import RunOptions
from fakempi.core.hooks import Hooked
from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.core.network.cost import CostModel
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import Port
from fakempi.core.reports.findings import Ledger, headline, lines
from fakempi.core.reports.ranks import Names
from fakempi.errors import FindingsError
from fakempi.mpi.interfaces.records import CallSites, TrackedResources
from fakempi.mpi.interfaces.services import (
    ChoicePoints,
    CpuMeter,
    FusedCollectives,
    Interruptible,
    ProcessBufferChecks,
    RequestChecks,
    Stoppable,
    TraceService,
)

Program: TypeAlias = Callable[[Any], object]
"""The function that a process runs. It is called with the process's COMM_WORLD."""

Launch: TypeAlias = "Callable[[Process, Program], None]"

P = TypeVar("P", bound="RunState")


def zeros(nbytes: int) -> Any:
    """Return an array of `nbytes` bytes, all zero."""
    return np.zeros(nbytes, np.uint8)


def _only_in_runs(*arguments: object) -> NoReturn:
    """Stand for what starts programs, in a universe that is not of a run."""
    raise AssertionError("there is no run")


class RunState:
    """State of a run that one package owns. `universe.state(Class)` returns it, and creates it on first use.

    Therefore `Universe` does not depend on the packages that keep state in it.
    """

    def __init__(self, universe: Universe) -> None:
        self.universe = universe


class Universe(Hooked):
    """The state of a run: its loop, its network, its services, and the state that packages own (`state`).

    Hook points: a process has failed (`fail`), and the run ends for another reason (`end`).
    """

    HOOK_POINTS = ("fail", "end")

    is_singleton = False  # True for the one process outside a run

    def __init__(
        self, loop: Loop, network: Delivery, cost: CostModel, options: RunOptions, choices: ChoicePoints | None = None,
        recorder: TraceService | None = None, launch: Launch = _only_in_runs,
        program_of_command: Callable[[Sequence[str]], Program] = _only_in_runs,
    ) -> None:  # fmt: skip
        self.loop, self.network, self.cost = loop, network, cost
        self.options, self.strict, self.cpu_scale = options, options.strict, float(options.cpu_scale)
        self.choices = choices  # None if modeled time determines the schedule
        self.mailbox: Callable[[int, Port, object], Mailbox] = Mailbox if choices is None else choices.mailbox
        self.algorithms = options.algorithms  # of the schedule, if it follows one and `run` specifies none
        self.has_nodes = type(cost).node is not CostModel.node
        self.processes: list[Process] = []
        self.started = 0  # how many of them `run` started; the others were spawned
        self.names = Names()
        self.ledger = Ledger(self.names, None if self.is_singleton else options.suppressions)  # of findings
        self.recorder = recorder
        self.fused: FusedCollectives | None = None
        self.buffer_checks: BufferChecks | None = None
        self.send_checks: Callable[[Process], RequestChecks] | None = None  # if only send buffers are checked
        self.monitor: Interruptible | None = None
        self.stop_requests: Stoppable | None = None
        self.abort_of_copy: Callable[[int, bool], NoReturn] | None = None  # `Abort` in a process that a rank has forked
        self.clock_reads = 0  # how often processes have read a clock
        self.failures: list[tuple[Process, BaseException]] = []
        self.verdict: BaseException | None = None  # why the run ends early, if no process has failed
        self.inner: Universe | None = None  # a run inside this one, started by one of its processes
        self.outer: Universe | None = None  # the run that this one is inside of
        self.driver = get_ident()  # the OS thread that drives this run
        self.launch = launch  # starts a program on a process
        self.program_of_command = program_of_command  # for a script and its arguments
        self.can_spawn_functions = True  # False if ranks are processes: a process runs its rank only
        self.window_memory: Callable[[int], Any] = zeros  # returns new memory; replaced if other processes need access
        self.remarks: list[Callable[[], str]] = []  # return lines for reports of time-outs and deadlocks, or empty ones
        self.at_end: list[Callable[[], None]] = []  # called when the run is over
        self.leak_checks: list[Callable[[], None]] = []  # called when the run ends without an error
        self.states: dict[type[RunState], RunState] = {}

    def state(self, kind: type[P]) -> P:
        """Return the state that a package owns; it is created on first use."""
        state = self.states.get(kind)
        if state is None:
            state = self.states[kind] = kind(self)
        return state  # type: ignore[return-value]  # states are stored by their class

    def fail(self, process: Process, error: BaseException) -> None:
        """End the run, because a process has failed."""
        process.explain(error)
        self.failures.append((process, error))
        self.close()

    def note_unexplored(self, what: str) -> None:
        """Record behavior that MPI leaves open and of which the model checker does not try all outcomes."""
        if self.choices is not None:
            self.choices.note_unexplored(what)

    def decide(self, verdict: BaseException) -> None:
        """Record why the run ends, unless there is a reason already."""
        if self.verdict is None and not self.failures:
            self.verdict = verdict

    def end(self, verdict: BaseException) -> None:
        """End the run for a reason other than a failed process."""
        self.decide(verdict)
        self.close()

    def report(
        self, kind: str, number: int, sentence: str, others: Sequence[int] = (), *,
        call: str, place: str, wrong_data: bool = False, times: int = 1, unchecked: bool = False,
    ) -> None:  # fmt: skip
        """Add a finding about a process. In the sentence, `{others}` is replaced by the names of the processes `others`.

        `wrong_data`: the data would be wrong from here on, so a strict run ends here. `unchecked`: a note, which says where
        the check for errors of this kind is incomplete.
        """
        counts = self.ledger.add(kind, number, call, place, sentence, others, times, unchecked)
        if wrong_data and self.strict and counts:
            self.end(self.findings_error())

    def findings_error(self) -> FindingsError:
        """Return the exception of a strict run with findings."""
        findings = self.ledger.findings()
        text = [f"{headline(findings)} in a strict run:", *lines(findings)]
        return FindingsError("\n  ".join(text), findings)

    def close(self) -> None:
        """Stop the run: each task that waits or sends from now on gets an exception."""
        self.loop.stop()
        self.network.close(self._reject)

    def finish(self) -> None:
        """Call the functions in `at_end`, after all tasks have ended."""
        for finish in self.at_end:
            finish()

    def _reject(self) -> None:
        if self.loop.running is not None:
            self.loop.raise_ended(self.loop.running)

    def add_process(self, rank: int) -> Process:
        """Add a process, which has that rank in its COMM_WORLD."""
        process = Process(self, self.network.ports.add_process(), rank)
        if self.buffer_checks is not None:
            process.buffer_checks = process.request_checks = self.buffer_checks.add_process(process)
        elif self.send_checks is not None:
            process.request_checks = self.send_checks(process)
        self.processes.append(process)
        return process


class BufferChecks(Protocol):
    """Checks the buffers that operations use. Implemented by `fakempi.extensions.buffer_checks`."""

    @property
    def reports(self) -> bool:
        """Whether errors are reported; otherwise the checks only decide when data move."""

    def add_process(self, process: Process) -> ProcessBufferChecks:
        """Return the checks of a new process."""

    def end(self) -> None:
        """Stop watching all buffers."""


NUMBER_CHECKS = 64
"""The first messages of a rank to and from PROC_NULL that are checked: a check takes 1.4 us, such a message 0.8 us."""


class Process:
    """One virtual rank. Attributes that few ranks need start as None."""

    __slots__ = (
        "appnum",
        "attributes",
        "buffer_checks",
        "buffers",
        "call_sites",
        "called",
        "clock_read_at",
        "clock_reads",
        "comm_self",
        "comm_world",
        "eager_limit",
        "finalized",
        "initialized",
        "inner_limit",
        "loop",
        "memory_at",
        "meter",
        "network",
        "number",
        "number_checks",
        "options",
        "out",
        "parent",
        "pickle",
        "rank",
        "request_checks",
        "task",
        "thread_level",
        "threads",
        "tracked",
        "universe",
        "variables_of_call",
    )  # fmt: skip

    def __init__(self, universe: Universe, number: int, rank: int) -> None:
        self.universe = universe
        self.loop, self.network = universe.loop, universe.network
        self.eager_limit = universe.cost.eager_limit or -1  # with a limit of 0 not even an empty message is eager
        self.inner_limit = self.eager_limit  # the limit for messages inside collective calls
        if universe.choices is not None:
            self.eager_limit, self.inner_limit = -1, universe.choices.inner_limit()  # see `is_eager`
        self.out = universe.network.out[number]
        self.number = number  # unique in the universe
        self.rank = rank  # in its COMM_WORLD
        self.task: Task = None  # type: ignore[assignment]  # until `start`
        self.comm_world: Any = None  # an Intracomm; the types of this and the next two are in a higher package
        self.comm_self: Any = None
        self.parent: Any = None  # the intercommunicator to the processes that spawned it
        self.appnum = 0  # the index of its program among those that were spawned together
        self.buffer_checks: ProcessBufferChecks | None = None  # None if buffers are not checked
        self.request_checks: RequestChecks | None = None  # the same, or only of buffers that requests send
        # if its program is in another process: how memory is found by address; first line and integers of the caller
        self.memory_at: Any = None
        self.variables_of_call: Callable[[], tuple[int, dict[str, int]]] | None = None
        self.called: tuple[str, str] | None = None  # name and place of the call that is being planned, if they are known
        self.pickle: Any = None  # this rank's settings of MPI.pickle, once it has changed them
        self.attributes: Any = None  # this rank's attributes of objects that all ranks share
        self.buffers: Any = None  # attached buffers for Bsend
        self.initialized, self.finalized = True, False
        self.thread_level: int | None = None  # as required in Init_thread, if any
        self.threads: list[Task] | None = None  # the tasks of threads that it has started
        self.options: dict[str, Any] | None = None  # its settings in `mpi4py.rc`
        self.meter: CpuMeter | None = None  # None if CPU time is not charged to the clock
        self.clock_read_at: Time | None = None  # the time at which it last called Wtime
        self.clock_reads = 0  # how often it has called Wtime at that time
        self.call_sites: CallSites | None = None if universe.is_singleton else {}
        self.number_checks = NUMBER_CHECKS  # how many more messages to and from PROC_NULL `rank_numbers` looks at
        self.tracked: TrackedResources | None = None  # resources that its program has to free

    @property
    def name(self) -> str:
        """The name of the process: `rank 2`; for a spawned process, with the line that spawned it."""
        return self.universe.names.name(self.number)

    def is_eager(self, nbytes: int) -> bool:
        """Whether a standard send of its program is buffered: by its size, or by a choice of the model checker."""
        choices = self.universe.choices
        return nbytes <= self.eager_limit or (choices is not None and choices.is_eager(nbytes))

    def explain(self, error: BaseException) -> None:
        """Report a finding if its program failed because it wrote to a buffer in use."""
        if self.buffer_checks is not None:
            self.buffer_checks.explain(error)

    def order_of(self, task: Task) -> int:
        """Return the position of one of its tasks among tasks that continue at the same time: by process, then by task."""
        return (self.number << 32) + task.number

    def started(self, task: Task | None) -> bool:
        """Whether a task is a thread that the process has started."""
        return self.threads is not None and task in self.threads

    def start(self, main: Callable[[], None]) -> None:
        """Start the task of the process."""
        self.task = self.loop.spawn(main, self)
        self.task.order = self.order_of(self.task)
