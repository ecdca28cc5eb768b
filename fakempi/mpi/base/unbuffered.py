"""Unsafe sends: whether the program would deadlock without buffering, determined during a run with buffering.

With buffering, a standard send completes before its receive is posted. Without buffering, it waits for that receive. Each
buffered send is therefore recorded as a step that is open until its receive is posted. From then on the step depends on
everything for which the receiving task had to wait before it posted the receive: its own buffered sends, and those of the
tasks whose messages it had received. If a send depends on itself in this way, the program deadlocks without buffering,
provided that messages match the same receives.

Each task has at most one step, on which its next actions depend (`UnbufferedOrder.tasks`). A message carries the step of its
sender, a posted receive that of its receiver. Messages inside collective calls carry it as well, but a send there never
counts as waiting: a collective call depends only on the data that it needs.

Nothing is recorded while no send is open: `Loop.wait_tracker` is None then, and a wait only tests for that. A polling loop
adds no dependency, and neither does a wait for any of several requests, because without buffering the program could continue
differently. If a wildcard receive matched a message that depends on another message which also matches, it is
treated as the receive of that other message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.core.hooks import Layer, OnMatched, OnPostReceive, OnSend
from fakempi.core.kernel.task import Task
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox
from fakempi.core.reports.dependencies import Dependencies, ProgramStep
from fakempi.mpi.base.call_site import call_and_place
from fakempi.mpi.base.process import RunState, Universe
from fakempi.mpi.interfaces.operations import Operation

MAX_STEPS = 100_000
"""Maximum number of steps that are kept (30 MB); if there are more, all are dropped, and the run has a note."""

MAX_REPORTS = 1_000
"""Number of reported unsafe sends after which a run that is not strict stops recording: most later ones are repetitions."""

OWN_RECEIVE_LATER = "would deadlock without buffering: its receive, on {others}, is posted only after this send completes"
ALL_SEND_FIRST = "would deadlock without buffering: {others} all send before any of them receives"
OTHER_RECEIVES_LATER = "would deadlock without buffering: receives on {others} are posted only after this send completes"
INCOMPLETE = (
    "more than {steps:,} steps of the program depend on buffered sends that are not received yet, so sends before this call "
    "are no longer checked for unsafe-send; to check them, run without buffering (--cost hockney:eager_limit=0)"
)


class BufferedSend:
    """A buffered standard send: its sender, its receiver, and its call site."""

    __slots__ = ("call", "envelope", "number", "place", "receiver")

    def __init__(self, envelope: Envelope) -> None:
        self.envelope: Envelope | None = envelope  # None once its receive is posted; by then the envelope has its call site
        self.number, self.receiver = envelope.out.number, envelope.box.owner
        self.call = self.place = ""

    def locate(self) -> None:
        """Copy the call site from the envelope."""
        call_site = getattr(self.envelope, "call_site", None)
        if call_site is not None and not self.call:
            self.call, self.place = call_site.call, call_site.place

    def with_place(self) -> BufferedSend:
        """Find the call site and return this object. Without one in the envelope, the running task is still in the call."""
        self.locate()
        if not self.call:
            self.call, self.place = call_and_place()
        self.envelope = None
        return self


def follow_if_buffered(envelope: Envelope) -> None:
    """Start to record when a send completes before its receive is posted, which means that it was buffered."""
    box: Mailbox = envelope.box
    if box.lone_envelope is not envelope and not box.pending and not box.delayed:
        return  # most sends
    if not envelope.eager or box.name.original is not None:
        return
    universe = box.name.context.universe
    if universe.choices is None and not universe.is_singleton and _is_unmatched(envelope):
        # One call less than `state` alone. This and the local `kind` in `ended` save 5 % of a message in a ring.
        unbuffered: UnbufferedOrder = universe.states.get(UnbufferedOrder) or universe.state(UnbufferedOrder)
        if unbuffered.reports_left:
            unbuffered.follow(envelope)


class UnbufferedOrder(RunState, OnSend[Envelope], OnPostReceive[PostedReceive], OnMatched[Envelope, PostedReceive]):
    """The dependencies of a run's tasks without buffering. Subscribes to the network while a send is open."""

    layer = Layer.UNSAFE_SENDS

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.loop, self.network = universe.loop, universe.network
        self.steps = Dependencies()
        self.reports_left = -1 if universe.strict else MAX_REPORTS  # -1: no limit
        self.is_complete = True  # no steps were dropped
        self.tasks: dict[Task | None, ProgramStep] = {}

    def follow(self, envelope: Envelope) -> None:
        """Start to record, with a send that was buffered."""
        if self.loop.wait_tracker is None:
            self.loop.wait_tracker = self
            self.network.subscribe(self)
        self.ended(envelope)

    def _stop(self) -> None:
        """Stop recording, because no send is open."""
        self.loop.wait_tracker = None
        self.tasks.clear()
        self.network.unsubscribe(self)

    # -- events of tasks ------------------------------------------------------------------------------------------

    def current_step(self) -> ProgramStep | None:
        """The step on which the running task depends."""
        return self.tasks.get(self.loop.running)

    def start(self, task: Task) -> None:
        """Record that the running task has started another one."""
        step = self.current_step()
        if step is not None:
            self.tasks[task] = step

    def task_ended(self) -> ProgramStep | None:
        """Remove the running task, which is about to end, and return the step on which it depends."""
        return self.tasks.pop(self.loop.running, None)

    def send(self, proceed: Callable[[Envelope], None], envelope: Envelope) -> None:
        """Record the step on which a message depends."""
        envelope.needs = self.tasks.get(self.loop.running)
        proceed(envelope)

    def post_receive(self, proceed: Callable[[PostedReceive], None], receive: PostedReceive) -> None:
        """Record the step on which a posted receive depends."""
        receive.needs = self.tasks.get(self.loop.running)
        proceed(receive)

    def matched(
        self, proceed: Callable[[Envelope, PostedReceive], None], envelope: Envelope, receive: PostedReceive
    ) -> None:
        """Settle the step of a buffered send whose receive is posted now."""
        proceed(envelope, receive)
        if envelope.box.name.original is not None:
            return
        if (receive.source < 0 or receive.tag < 0) and getattr(envelope, "needs", None) is not None:
            self._exchange(envelope, receive)
        need = envelope.met = getattr(receive, "needs", None)
        step = getattr(envelope, "step", None)
        if step is not None:
            envelope.step = None
            self._settle(step, need)

    def ended(self, operation: Operation) -> None:
        """Record that the running task has waited until an operation ended."""
        kind = operation.__class__
        if kind is PostedReceive:
            self._depend(getattr(operation.envelope, "needs", None))  # type: ignore[attr-defined]  # a PostedReceive, as checked above
        elif kind is Envelope:
            self._sent(operation)  # type: ignore[arg-type]  # an Envelope, as checked above
        elif (parts := getattr(operation, "operations", None)) is not None:
            for part in parts:
                self.ended(part)
        else:
            rendezvous = getattr(operation, "why", None)  # it ends when all ranks have arrived
            self._depend(getattr(operation, "needs", None) or getattr(rendezvous, "needs", None))

    def probed(self, receive: PostedReceive, envelope: Envelope) -> None:
        """Record that the running task has waited until a probe found a message."""
        needs = getattr(envelope, "needs", None)
        if needs is not None and self._earlier_match(needs, receive) is None:
            self._depend(needs)

    def synchronized(self, tasks: list[Task]) -> None:
        """Record that tasks have waited for each other."""
        steps = [step for task in tasks if (step := self.tasks.get(task)) is not None]
        if steps:
            step = self.steps.add(steps) if len(set(steps)) > 1 else steps[0]
            self.tasks.update(dict.fromkeys(tasks, step))
            self._stop_if_idle()

    def joined(self, needs: ProgramStep | None) -> ProgramStep | None:
        """Return the step on which all tasks depend that have arrived at a rendezvous, including the running task."""
        return self.steps.join(needs, self.current_step())

    # -- internal -------------------------------------------------------------------------------------------------

    def _depend(self, needs: ProgramStep | None) -> None:
        """Let the next actions of the running task depend on one more step."""
        if needs is None or needs.ended:
            return
        task = self.loop.running
        step = self.steps.join(self.tasks.get(task), needs)
        if step is not None:
            self.tasks[task] = step
            self._stop_if_idle()

    def _sent(self, envelope: Envelope) -> None:
        """Record that the running task has waited for a send: without buffering, until its receive was posted."""
        if envelope.box.name.original is not None:
            return  # inside a collective call
        need: Any = getattr(envelope, "met", envelope)
        if need is None:
            return
        if need is not envelope:
            if envelope.eager and not need.ended:
                task = self.loop.running
                send = BufferedSend(envelope).with_place()
                self.tasks[task] = self.steps.add((self.tasks.get(task), need), send, matched_by=need)
                self._stop_if_idle()
            else:
                self._depend(need)
        elif envelope.eager and _is_unmatched(envelope):
            task = self.loop.running
            step = self.steps.add((self.tasks.get(task),), BufferedSend(envelope), settled=False)
            envelope.step = self.tasks[task] = step
            self._stop_if_idle()

    def _settle(self, step: ProgramStep, need: ProgramStep | None) -> None:
        if step.ended:
            return
        step.event.locate()
        step.event.envelope = None
        cycle: list[BufferedSend] = self.steps.settle(step, need)
        if cycle:
            self._report(cycle)
        self._stop_if_idle()

    def _report(self, cycle: list[BufferedSend]) -> None:
        senders, receivers = {sent.number for sent in cycle}, {sent.receiver for sent in cycle}
        sentence = OWN_RECEIVE_LATER if len(cycle) == 1 else ALL_SEND_FIRST if senders == receivers else OTHER_RECEIVES_LATER
        places: set[tuple[str, str]] = set()
        for sent in cycle:
            # only once per line of the program, since the list may be long
            others = () if (sent.call, sent.place) in places else tuple(receivers)
            places.add((sent.call, sent.place))
            self.reports_left -= self.reports_left > 0
            self.universe.report("unsafe-send", sent.number, sentence, others, call=sent.call, place=sent.place)

    def _exchange(self, envelope: Envelope, receive: PostedReceive) -> None:
        """Exchange a message that a wildcard receive matched with a message on which it depends and which also matches.

        Without buffering that other message arrives first, so the receive would match it.
        """
        other = self._earlier_match(envelope.needs, receive)
        if other is not None:
            mine = getattr(envelope, "step", None)
            for step in (mine, other.step):
                if step is not None:
                    step.event.locate()
            envelope.needs, other.needs = getattr(other, "needs", None), envelope.needs
            envelope.step, other.step = other.step, mine
            if mine is not None:
                mine.event.envelope = other
            if envelope.step is not None:
                envelope.step.event.envelope = envelope

    def _earlier_match(self, needs: ProgramStep | None, receive: PostedReceive) -> Envelope | None:
        """A message in the mailbox that matches the receive and has to be received before a step can complete."""
        if needs is None or needs.ended:
            return None
        for step in self.steps.before(needs):
            other: Envelope | None = None if step.event is None else step.event.envelope
            if other is not None and other.box is receive.box and receive.matches(other):
                return other
        return None

    def _stop_if_idle(self) -> None:
        if not self.steps.steps:
            self._stop()
        elif len(self.steps.steps) > MAX_STEPS or not self.reports_left:
            if self.reports_left:
                self._report_incomplete()
            self.steps.forget()
            self._stop()

    def _report_incomplete(self) -> None:
        """Note, once per run, that steps are dropped."""
        task = self.loop.running
        if self.is_complete and task is not None:
            self.is_complete = False
            call, place = call_and_place()
            sentence = INCOMPLETE.format(steps=MAX_STEPS)
            self.universe.report("unsafe-send", task.owner.number, sentence, call=call, place=place, unchecked=True)


def _is_unmatched(envelope: Envelope) -> bool:
    """Whether a message is in its mailbox, or on its way there."""
    box: Mailbox = envelope.box
    if box.lone_envelope is envelope:
        return True
    if box.pending:
        link = box.pending.get((envelope.source, envelope.tag))
        if link is not None and link.last is envelope:
            return True
        while link is not None:  # another thread has sent after this one
            if link is envelope:
                return True
            link = link.next
    queue = None if box.delayed is None else box.delayed.get(envelope.source)
    return bool(queue) and (queue[-1] is envelope or envelope in queue)  # type: ignore[index, operator]  # not None if it is true
