"""Child tasks: background work of a rank, such as a nonblocking collective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.core.hooks import Layer, OnSend
from fakempi.core.kernel.loop import Ended
from fakempi.core.kernel.task import Task
from fakempi.core.network.envelope import Envelope
from fakempi.errors import MPIError
from fakempi.mpi.base.call_site import call_and_place
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.process import Process, RunState, Universe
from fakempi.mpi.base.waiting import Completion


class ChildTask:
    """The body of a child task: it calls `work` and completes the request. It stores the process and the call site."""

    __slots__ = ("call", "completion", "context", "place", "process", "task", "work")

    def __init__(self, process: Process, context: Context, work: Callable[[], object], call: str) -> None:
        self.process: Process = process
        self.context = context  # of its communicator
        self.work: Callable[[], object] | None = work
        public_call, self.place = call_and_place()
        self.call = call or public_call
        self.completion = Completion(self)
        self.task: Task | None = None

    def __call__(self) -> None:
        """Call `work`. An MPI error is raised where the rank waits for the request; any other exception ends the run."""
        try:
            self.work()  # type: ignore[misc]  # it is called once
        except MPIError as error:
            if str(error).startswith("begin on "):  # name the call of the program instead of the task's first function
                sentence = str(error).partition(": ")[2]
                error = type(error)(error.ierr, f"{self.call} on {self.process.name}: {sentence}")
            self.completion.error = error
        except Ended:
            raise
        except BaseException as error:
            self.process.universe.fail(self.process, error)
            return
        loop = self.process.loop
        if loop.wait_tracker is not None:
            self.completion.needs = loop.wait_tracker.task_ended()
        self.completion.complete(loop.now)
        self.work = self.task = self.completion.why = None  # break the reference cycle, which holds the buffers


class SenderTasks(RunState, OnSend[Envelope]):
    """Records which task sends a message, once ranks have child tasks or threads.

    The messages that a rank sends at one time are ordered by task, because the order in which its tasks run may depend on
    other ranks. Operations on windows precede them. If the rank has threads, messages to one mailbox keep the order in which
    they were sent, because threads that wait for each other rely on it; without threads, no two tasks send to one receive.
    """

    layer = Layer.RANK_STATE

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.loop = universe.loop
        self.last: dict[tuple[Any, Any], Envelope] = {}  # by port and mailbox: the last message of this time
        self.time: Any = None  # of the messages in `last`
        universe.network.by_task = True
        universe.network.subscribe(self)

    def send(self, proceed: Callable[[Envelope], None], envelope: Envelope) -> None:
        """Record the task of a message."""
        running: Any = self.loop.running  # a task runs, because it sends
        envelope.task = running.order
        if running.owner.threads is not None:
            self._keep_order(envelope)
        proceed(envelope)

    def _keep_order(self, envelope: Envelope) -> None:
        """Give a message at least the position of the last one to the same mailbox at this time."""
        if self.loop.now != self.time:
            self.time = self.loop.now
            self.last.clear()
        key = envelope.out, envelope.box
        last = self.last.get(key)
        if last is not None and last.task > envelope.task:
            envelope.task = last.task
        self.last[key] = envelope


def start_child(process: Process, context: Context, work: Callable[[], object], call: str = "") -> Completion:
    """Start a child task; return the operation to wait for. For a persistent request, `call` is the call that created it."""
    child = ChildTask(process, context, work, call)
    child.task = process.loop.spawn(child, process)
    child.task.order = process.order_of(child.task)
    process.universe.state(SenderTasks)
    if process.loop.wait_tracker is not None:
        process.loop.wait_tracker.start(child.task)
    return child.completion
