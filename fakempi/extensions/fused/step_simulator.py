"""Event simulation of a rank's steps in a collective call, without running the algorithm's code.

A `StepSimulator` posts the messages of a step, waits for them as a task would (`mpi.base.waiting`), charges the time of
combining, and starts the next step. The messages have no contents. The agenda has the same entries in the same order as in
an emulated call, so the simulation is exact even while other messages are in transit. In a run, the calling rank starts its
first step in its own turn. Then its task waits, and a `RankSimulator` takes its turns until the last step is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from fakempi.core.kernel.agenda import Agenda, Time
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.envelope import Envelope, PostedReceive, new_envelope, new_receive
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import Port
from fakempi.errors import MPIError
from fakempi.extensions.fused.programs import ConcurrentStep, Steps
from fakempi.mpi.base.waiting import book_first
from fakempi.mpi.failures.failure import FailedPayload
from fakempi.mpi.point.arrival import complete_send
from fakempi.mpi.point.objects import UNLIMITED


class StepSimulator:
    """Executes the steps of one rank. It is an item of the agenda and the waiter of messages, like a task."""

    __slots__ = ("agenda", "awaited", "booked", "box", "boxes", "charges", "eager_limit", "ended_at", "make_box", "messages",
        "network", "next", "order", "out", "rank", "rate", "reason", "since", "steps", "stream", "tag", "task",
        "until")  # fmt: skip

    def __init__(
        self, agenda: Agenda, network: Delivery, rank: int, out: Port, box: Mailbox, boxes: Sequence[Mailbox | None],
        make_box: Callable[[int], Mailbox], eager_limit: int, rate: Any, steps: Steps, tag: int,
    ) -> None:  # fmt: skip
        self.agenda, self.network, self.rank, self.out, self.box, self.boxes = agenda, network, rank, out, box, boxes
        self.make_box, self.eager_limit, self.rate, self.steps, self.tag = make_box, eager_limit, rate, steps, tag
        self.task: Any = self  # the agenda entry that continues after the last step
        self.order = rank  # among entries of the agenda that were booked at one time for the same time
        self.next = 0  # index of the next step
        self.charges: tuple[int, ...] = ()  # bytes of the combinations of data that follow the messages
        self.messages: Any = ()  # of the current step
        self.stream: Iterator[bool] | None = None  # continues the current step if it is in streams
        self.awaited, self.until = 0, agenda.now  # number of awaited messages and their latest end, as in a task
        self.ended_at: Time | None = None  # when all steps were complete

    def __call__(self) -> None:
        """Execute steps until the rank has to wait."""
        if self._advance():
            self.ended_at = self.agenda.now

    def settled(self, end: Time) -> None:
        """Record that an awaited message ends at time `end`; after the last awaited message, book the next turn."""
        if end > self.until:
            self.until = end
        self.awaited -= 1
        if not self.awaited:
            self.agenda.run_at(self.until, self)

    def _advance(self) -> bool:
        """Execute steps until the rank has to wait; returns True if all steps are complete."""
        steps = self.steps
        while True:
            if self.stream is not None and next(self.stream, False):
                return False
            if self.messages:
                if steps[self.next - 1].__class__ is ConcurrentStep and self._await_all():
                    return False
                self._end_step()
            if self.charges:
                self._charge(self.charges[0])
                return False
            if self.next == len(steps):
                return True
            step: Any = steps[self.next]
            self.next += 1
            if self._post_all(*step) if step.__class__ is ConcurrentStep else self._post(*step):
                return False

    def _post(self, source: int, dest: int, nbytes: int, combined: tuple[int, ...]) -> bool:
        """Post the receive and the send of a step; returns whether the rank has to wait."""
        now, task = self.agenda.now, self.task
        receive = self._receive(source) if source >= 0 else None
        envelope = None
        if dest >= 0:
            try:
                envelope = self._send(dest, nbytes, 0 if receive is None else receive.call)
            except MPIError:
                if receive is not None and receive.envelope is None:
                    receive.box.withdraw(receive)
                raise
        if self.rate:
            self.charges = combined
        # The task itself waits for the last step, which saves a turn.
        waiter = task if self.next == len(self.steps) and not self.charges else self
        self.messages = (envelope or receive,) if envelope is None or receive is None else (envelope, receive)
        until, awaited = now, 0
        for message in self.messages:
            if message.end is None:
                message.waiter = waiter
                awaited += 1
            elif message.end > until:
                until = message.end
        if awaited:
            waiter.awaited, waiter.until = awaited, until
            task.since, task.reason = now, self.messages if len(self.messages) > 1 else self.messages[0]
        elif until > now:
            self.agenda.run_at(until, waiter)
        return awaited > 0 or bool(until > now)

    def _post_all(
        self, sources: tuple[int, ...], sends: tuple[tuple[int, int], ...], synchronous: bool, in_streams: bool,
        combined: tuple[int, ...],
    ) -> bool:  # fmt: skip
        """Post all messages of a phase, or the first ones of two streams; returns whether the rank has to wait."""
        if self.rate:
            self.charges = combined
        if in_streams:
            self.stream = self._streams(sources, sends)
            return next(self.stream, False)
        receives = [self._receive(source) for source in sources]
        self.messages = (*receives, *[self._send(dest, nbytes, 0, synchronous) for dest, nbytes in sends])
        return self._await_all()

    def _await_all(self) -> bool:
        """Wait for all messages as `wait_all` does: first until the ends of all are known, then until the last end."""
        agenda, pending = self.agenda, tuple(message for message in self.messages if message.end is None)
        if pending:
            self.awaited, self.until = len(pending), agenda.now
            self.task.since, self.task.reason = agenda.now, pending
            for message in pending:
                message.waiter = self
            return True
        latest = max(message.end for message in self.messages)
        if latest > agenda.now:
            agenda.run_at(latest, self)
        return bool(latest > agenda.now)

    def _streams(self, sources: tuple[int, ...], sends: tuple[tuple[int, int], ...]) -> Iterator[bool]:
        """Send and receive as `two_streams` of `collectives` does; yields True when the rank has to wait."""
        orders: list[Any] = [(self._send(dest, nbytes, 0, True) for dest, nbytes in sends), map(self._receive, sources)]
        posted = [(message, order) for order in orders for message in islice(order, 1)]
        while posted:
            self.messages = tuple(message for message, _ in posted)
            if book_first(self.agenda, self.messages, self.task, self) if len(posted) > 1 else self._await_all():
                yield True
            done = next(i for i, each in enumerate(self.messages) if each.end is not None and each.end <= self.agenda.now)
            self.messages, (_, order) = (self.messages[done],), posted.pop(done)
            self._end_step(tracked=not posted)
            posted += [(message, order) for message in islice(order, 1)]

    def _receive(self, source: int) -> PostedReceive:
        receive = new_receive(source, self.tag, self.box, None, UNLIMITED)
        self.network.post_receive(receive)
        return receive

    def _send(self, dest: int, nbytes: int, call: Any, synchronous: bool = False) -> Envelope:
        box, eager = self.boxes[dest] or self.make_box(dest), nbytes <= self.eager_limit and not synchronous
        envelope = new_envelope(self.out, self.rank, self.tag, nbytes, box, (), eager, call)  # without contents
        self.network.send(envelope)
        return envelope

    def _end_step(self, *, tracked: bool = True) -> None:
        """End a step, or one message of a stream, after its messages have ended."""
        self.messages = ()

    def _charge(self, nbytes: int) -> None:
        """Book the next turn for the end of one combination of data."""
        self.charges = self.charges[1:]
        is_last = self.next == len(self.steps) and not self.charges
        self.agenda.run_at(self.agenda.now + self.rate * nbytes, self.task if is_last else self)


class RankSimulator(StepSimulator):
    """Executes the steps of a rank in a run, in place of its task; reports failed processes, and records the trace."""

    __slots__ = ("comm",)

    def __init__(self, comms: tuple[Any, ...], tag: int, call: Any, number: int) -> None:
        comm = self.comm = comms[0]  # the communicator of the collective context
        loop, rate = comm._loop, comm._process.universe.cost.compute_per_byte
        StepSimulator.__init__(
            self, loop, comm._network, comm._rank, comm._out_port, comm._mailbox(), comm._boxes, comm._peer_side.box,
            comm._eager_limit, rate, call.results.steps(number, call.sizes), tag,
        )  # fmt: skip
        self.task = task = loop.running
        self.order = task.order

    def execute(self) -> None:
        """Execute all steps in the rank's task; raises an error if a process has failed."""
        while not self._advance():
            self.comm._loop.wait()

    def __call__(self) -> None:
        """Take the turn of the rank: execute steps until it has to wait."""
        loop, task = self.comm._loop, self.task
        if task.number not in loop.tasks:
            return  # the process of the rank has died
        loop.running = task
        # If all steps are complete, or if an error may have to be raised, the task continues in this turn.
        if self.comm._context.fault_state is not None or self._advance():
            loop.due.insert(loop.due_index, task)

    def _end_step(self, *, tracked: bool = True) -> None:
        """End a step whose messages have ended; raise an error if a process has failed."""
        messages, self.messages, comm = self.messages, (), self.comm
        if comm._loop.wait_tracker is not None and tracked:
            for message in messages:
                comm._loop.wait_tracker.ended(message)
        if comm._context.fault_state is not None:
            for message in messages:
                if message.__class__ is PostedReceive:
                    comm._wait_received(message, None)
                elif type(message.payload) is FailedPayload:
                    complete_send(message, None, None)

    def _charge(self, nbytes: int) -> None:
        """Record the time of combining in the trace, and book its end."""
        process, now = self.comm._process, self.agenda.now
        if process.universe.recorder is not None:
            process.universe.recorder.computed(process.number, now, now + self.rate * nbytes)
        super()._charge(nbytes)


class SimulatorBetweenGroups(RankSimulator):
    """Executes the steps of a rank of one of two groups, on an intercommunicator and the communicator of its group."""

    __slots__ = ("call", "local", "own", "version")

    def __init__(self, comms: tuple[Any, ...], tag: int, call: Any, number: int) -> None:
        super().__init__(comms, tag, call, number)
        self.local, self.call, self.version = comms[1], call, call.sizes.version
        self.own = number - self.rank  # number of the first rank of this rank's group

    def _advance(self) -> bool:
        """Execute steps until the rank has to wait. The steps are computed again if more block sizes are known now."""
        if self.version != (sizes := self.call.sizes).version:
            self.version, self.steps = sizes.version, self.call.program.sized_steps(self.own + self.rank, sizes)
        return super()._advance()

    def _receive(self, source: int) -> PostedReceive:
        return super()._receive(self._choose_comm(source))

    def _send(self, dest: int, nbytes: int, call: Any, synchronous: bool = False) -> Envelope:
        return super()._send(self._choose_comm(dest), nbytes, call, synchronous)

    def _choose_comm(self, number: int) -> int:
        """Select the communicator to the rank with this number; return the rank in that communicator."""
        is_own = 0 <= number - self.own < self.local._n_peers
        comm = self.local if is_own else self.comm
        self.box, self.boxes, self.make_box = comm._mailbox(), comm._boxes, comm._peer_side.box
        return number - (self.own if is_own else 0 if self.own else self.local._n_peers)
