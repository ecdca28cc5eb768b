"""A process: what the program of one rank has that is its own, and the universe that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from fakempi.checks.findings import Ledger, headline, lines
from fakempi.checks.ranks import Names
from fakempi.errors import FindingsError
from fakempi.kernel.loop import Loop
from fakempi.wire.cost import CostModel
from fakempi.wire.delivery import Delivery
from fakempi.wire.matching import Mailbox


class Universe:
    """What all processes of a run share: time, the wire, and the tables through which they find one another."""

    alone = False  # whether it is a world of one, outside a run
    mailbox: Any = Mailbox  # the class of those that its contexts make
    choices: Any = None  # who makes the choices that MPI leaves open, if they are not left to time

    def __init__(self, loop: Loop, wire: Delivery, cost: CostModel, algorithms: Any, strict: bool) -> None:
        self.loop, self.wire, self.cost, self.strict = loop, wire, cost, strict
        self.algorithms = algorithms  # as given to `run`
        self._table: Any = None
        self.has_nodes = type(cost).node is not CostModel.node
        self._placements: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by side
        self._placed: dict[tuple[Any, ...], Any] = {}  # the same by the names of the nodes
        self.weighs: frozenset[str] = frozenset()  # operations that ask what each rank takes to send
        self._weights: WeakKeyDictionary[Any, dict[int, Any]] = WeakKeyDictionary()  # by side and bytes
        if algorithms is not None:
            self._look_up_table()
        self.processes: list[Process] = []
        self.started = 0  # how many of them by `run`
        self.names = Names()
        self.ledger = Ledger(self.names)  # of what is wrong and does not stop the run
        self.contexts = 0  # how many have been made
        self.sides: WeakSet[Any] = WeakSet()  # of all contexts that are in use, for whoever asks where messages lie
        self.remains: list[Any] = []  # contexts that nobody has any more, and in which something was left behind
        self.buffered: Any = None  # blocking sends that were, if anybody asked for them
        self.reported: dict[Any, Any] = {}  # what a deadlock report has found out already
        self.recorder: Any = None  # of what happens, if there is to be a trace
        self.paper: Any = None  # where collective calls are carried out in one piece, if they may be
        self.pins: Any = None  # what watches over memory that is in use, if anything does
        self.computing = 0.0  # by what factor measured CPU time is charged to the clocks; 0 if it is not
        self.glances = 0  # how often any of them has read a clock
        self.polled_in_vain = 0  # rounds in which all that could run polled in vain, if that is why the run has ended
        self.failures: list[tuple[Process, BaseException]] = []
        self.verdict: BaseException | None = None  # why it ends before its time, if no process has failed
        self.watch: Any = None  # what looks after the run, if anything does
        self.interrupts: Any = None  # what ends it on request
        self.inner: Universe | None = None  # another run, which one of these processes is carrying out
        self.driver = get_ident()  # the OS thread that carries out this one
        self.parked: list[Any] = []  # threads that have outlived their rank, and how to resume them
        self.windows: list[Any] = []  # that have been made and not freed
        self.meetings: dict[Any, Any] = {}  # of groups that have no communicator
        self.node_members: dict[Any, Any] = {}  # by world and node, if somebody has asked
        self.dead: dict[int, tuple[Process, Any]] = {}  # processes that have died, by number, and when
        self.detection: Any = 1e-3  # seconds until the others know
        self.watches_the_dead = False  # whether messages are looked at for that
        self.resilient = False  # whether any process has learned of it, or asked
        self.excuse: Callable[[int], None] = lambda number: None  # nobody waits for a process to part: given by `world`
        self.partings: dict[Any, Any] = {}  # meetings to disconnect that are under way, and where they are entered
        self.datareps: dict[int, set[str]] = {}  # by process: representations of data in files that it knows
        self.file_queue: Any = None  # at the file server, if the cost model has one
        self.file_accesses: dict[str, list[Any]] = {}  # by path, where choices are made
        self.file_errhandlers: dict[int, Any] = {}  # by process: what happens on errors of files it opens
        self.ports: dict[str, Any] = {}  # that are open, by name
        self.opened = 0  # how many have been
        self.services: dict[str, str] = {}  # published names, and the ports they stand for
        self.launch: Callable[[Process, Callable[[Any], Any]], None]  # let a process run a program: given by `world`
        self.program: Callable[[Sequence[str]], Callable[[Any], Any]]  # of a script and its arguments, likewise

    def choose(self, **facts: Any) -> Any:
        """The algorithm, and its parameters, for a collective call that all ranks describe in the same way."""
        if self._table is None:
            self._look_up_table()
        return self._table.choose(self._facts(startup_bytes=self._startup_bytes, **facts))

    def sizes(self, sizes: Sequence[int]) -> Any:
        """The sizes of blocks as a fact."""
        if self._table is None:
            self._look_up_table()
        return self._sizes(sizes)

    def placement(self, side: Any) -> Any:
        """Where the ranks of a communicator are, as far as that makes a difference; one object for all who are alike."""
        found = self._placements.get(side, self)
        if found is self:
            if self._table is None:
                self._look_up_table()
            names = tuple(self.cost.node(process) for process in side.members)
            if names not in self._placed:
                self._placed[names] = self._place(names)
            found = self._placements[side] = self._placed[names]
        return found

    def send_costs(self, side: Any, nbytes: int) -> Any:
        """What each rank of a communicator takes to send so many bytes."""
        known = self._weights.setdefault(side, {})
        if nbytes not in known:
            known[nbytes] = self._weigh(self.wire.price, list(side.members), nbytes)
        return known[nbytes]

    def choose_split(self, p: int) -> Any:
        """The algorithm that makes communicators of `p` ranks, if one was asked for; otherwise that is free."""
        if self._table is None or not self._table.splits:
            return None
        return self.choose(kind="split", operation="split", p=p)

    def choose_making(self, operation: str, p: int) -> Any:
        """The algorithm by which `p` ranks (of two groups, those of one) agree on a communicator, if one was asked for."""
        if self._table is None or ("making", operation) not in self._table.rules:
            return None
        return self.choose(kind="making", operation=operation, p=p)

    def choose_files(self, operation: str, p: int, *, hinted: bool) -> Any:
        """The algorithm by which `p` ranks access a file together, if the run asked for one, or a hint of the program."""
        if self._table is not None and ("files", operation) in self._table.rules:
            return self.choose(kind="files", operation=operation, p=p)
        if not hinted:
            return None
        from fakempi.tuning.table import two_phase  # if needed

        return two_phase(operation)

    def _look_up_table(self) -> None:
        # If needed: that imports all algorithms.
        from fakempi.tuning import Facts, Placement, SendCosts, Sizes, resolve, startup_bytes

        self._table, self._facts = resolve(self.algorithms, self.cost.linear), Facts
        self._startup_bytes, self._place, self._sizes = startup_bytes(self.cost.linear), Placement.of, Sizes.of
        if self.cost.linear is None:
            self.weighs, self._weigh = self._table.weighs, SendCosts.of

    def fail(self, process: Process, error: BaseException) -> None:
        """A process has failed: nothing more is to happen but the end."""
        process.explain(error)
        self.failures.append((process, error))
        self.close()

    def leaves_open(self, what: str) -> None:
        """A process does something that MPI leaves open, and of which not all outcomes are tried where choices are made."""
        if self.choices is not None:
            self.choices.leaves_out(what)

    def decide(self, verdict: BaseException) -> None:
        """This is why the run ends, unless there is a reason already."""
        if self.verdict is None and not self.failures:
            self.verdict = verdict

    def end(self, verdict: BaseException) -> None:
        """The run ends now, and this is why."""
        self.decide(verdict)
        self.close()

    def found(
        self, kind: str, number: int, sentence: str, others: Sequence[int] = (), *,
        call: str, place: str, at_once: bool = False, times: int = 1,
    ) -> None:  # fmt: skip
        """Something is wrong with what a process did, which does not stop the run; `{others}` are those of that number.

        `at_once`: wrong data would flow, so a strict run ends here.
        """
        self.ledger.add(kind, number, call, place, sentence, others, times)
        if at_once and self.strict:
            self.end(self.disapproval())

    def disapproval(self) -> FindingsError:
        """What a strict run with findings raises."""
        findings = self.ledger.findings()
        text = [f"{headline(findings)} in a strict run:", *lines(findings)]
        return FindingsError("\n  ".join(text), findings)

    def close(self) -> None:
        """The run is over: whoever waits or sends from now on is told so."""
        self.loop.stop()
        self.wire.close(self._refuse)

    def _refuse(self) -> None:
        if self.loop.running is not None:
            self.loop.refuse(self.loop.running)

    def add_process(self, rank: int) -> Process:
        """A new process, which is `rank` in its own world."""
        process = Process(self, self.wire.ports.add_process(), rank)
        process.pins = None if self.pins is None else self.pins.of(process)
        self.processes.append(process)
        return process


class Process:
    """One virtual rank. Most never need most of these, so what is rare starts as None."""

    __slots__ = (
        "appnum", "attributes", "buffers", "comm_self", "comm_world", "duties", "eager_limit", "finalized", "glanced_at",
        "glances", "initialized", "loop", "meter", "notes", "number", "options", "out", "parent", "pickle", "pins", "rank",
        "task", "thread_level", "threads", "universe", "wire",
    )  # fmt: skip

    def __init__(self, universe: Universe, number: int, rank: int) -> None:
        self.universe = universe
        self.loop, self.wire = universe.loop, universe.wire
        self.eager_limit = universe.cost.eager_limit or -1  # with a limit of 0 not even an empty message is eager
        self.out = universe.wire.out[number]
        self.number = number  # unique in the universe
        self.rank = rank  # in its own world
        self.task: Any = None
        self.comm_world: Any = None
        self.comm_self: Any = None
        self.parent: Any = None  # the intercommunicator to those who spawned it
        self.appnum = 0  # which of the programs that were spawned together it runs
        self.pins: Any = None  # memory that its operations use, if that is watched
        self.pickle: Any = None  # this rank's MPI.pickle settings, once changed
        self.attributes: Any = None  # attributes that this rank put on objects which all ranks share
        self.buffers: Any = None  # attached buffers for Bsend
        self.initialized, self.finalized = True, False
        self.thread_level: int | None = None  # that was asked for, if any was
        self.threads: list[Any] | None = None  # tasks: those threads that it has started
        self.options: dict[str, Any] | None = None  # what it has set in `mpi4py.rc`
        self.meter: Any = None  # of the CPU time that it takes, if that is charged to its clock
        self.glanced_at: Any = None  # the time at which it last called Wtime, and how often
        self.glances = 0
        self.notes: dict[Any, Any] | None = None if universe.alone else {}  # origins of requests, by place
        self.duties: dict[Any, Any] | None = None  # what it has to free, and the like

    @property
    def name(self) -> str:
        """The process in words: `rank 2`, and of those that were spawned, where."""
        return self.universe.names.name(self.number)

    def explain(self, error: BaseException) -> None:
        """Its program has failed: if that is because it wrote to memory in use, that is a finding."""
        if self.pins is not None:
            self.pins.explain(error)

    def started(self, task: Any) -> bool:
        """Whether a task is a thread that the process has started."""
        return self.threads is not None and task in self.threads

    def start(self, main: Callable[[], None]) -> None:
        """Let the process run a program."""
        self.task = self.loop.spawn(main, self)
