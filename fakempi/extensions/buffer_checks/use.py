"""The memory that one operation uses, from its start until the program knows that it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numpy import ndarray

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.extensions.buffer_checks.timing import detach
from fakempi.mpi.base.call_site import call_and_place, frame_at
from fakempi.mpi.buffers.flat import Flat, FlatVector
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.regions import MemoryRegion
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.interfaces.services import Closable


class MemoryUse:
    """The memory that one operation uses until it completes."""

    __slots__ = ("at_end", "call", "fence", "in_use", "in_windows", "place", "receive", "regions", "reported")

    def __init__(self, in_use: Any, operation: Any) -> None:
        self.in_use, self.reported = in_use, False  # a MemoryInUse, whose module imports this one
        self.fence: object = None  # of a one-sided operation: see `MemoryInUse.of_window`
        self.in_windows: list[Closable] = []  # the records of this use in windows
        self.call, self.place = operation.call_site.call, operation.call_site.place
        self.regions: list[MemoryRegion] = []
        self.receive: PostedReceive | None = None  # of a receive whose message has not arrived yet
        self.at_end: list[Callable[[], object]] = []  # called when the use ends, for instance to move data
        in_use.live[self] = None

    def __str__(self) -> str:
        return f"{self.call} at {self.place}"

    def using(self, payload: Payload | None, writes: bool) -> MemoryUse:
        """Add memory that the operation reads or writes; payloads without memory are ignored."""
        if payload is not None and payload.nbytes and type(payload) is not Phantom:
            self.regions.append(MemoryRegion(payload, writes, self))
            self.in_use.add(self.regions[-1])
            if self.in_use.exposed:
                self.in_windows += self.in_use.touch(self.regions[-1], (self.call, self.place), self.fence)
        return self

    def leave_windows(self) -> None:
        """End the records in windows: other ranks may know that the operation does not use their memory any more."""
        for record in self.in_windows:
            record.close()
        self.in_windows = []

    def timed(self) -> MemoryUse:
        """In a run that follows a schedule, record that the time at which data move is open."""
        checks = self.in_use.checks
        if checks.timing is not None and self.regions:
            checks.timing.choices.note_pending_buffer(self.call, self.place)
        return self

    def sending(self, envelope: Envelope) -> MemoryUse:
        """Read the buffer of a nonblocking send when the schedule requires it."""
        timing = self.in_use.checks.timing
        if timing is not None and self.regions:
            timing.start_send(envelope, self)
        return self

    def awaiting(self, receive: PostedReceive) -> MemoryUse:
        """Check the memory of a receive when its message arrives, unless the message has arrived already."""
        if not self.regions or not self.regions[-1].writes:
            return self
        region, checks = self.regions[-1], self.in_use.checks
        if checks.timing is not None and checks.timing.late:
            checks.timing.start_receive(receive, region, self)
        elif receive.envelope is None:
            self.receive = receive
            checks.awaited[receive] = region
            if checks.strict:
                region.poison()
        return self

    def delivered_late(self) -> MemoryUse:
        """If data move late, hide data that the operation has already written until it ends."""
        timing = self.in_use.checks.timing
        if timing is not None and timing.late:
            self.hide_contents()
        return self

    def hide_contents(self) -> None:
        """Fill memory that the operation writes with a receive until it ends, or until `restore` of the region."""
        for region in self.regions:
            if region.writes:
                region.poison()
                self.at_end.append(region.restore)

    def locked(self, ours: bool = False) -> MemoryUse:
        """In a strict run, make the program's arrays read-only; payloads that are `ours` are views of such arrays."""
        locks, ledger = self.in_use.checks.locks, self.in_use.checks.universe.ledger
        if locks is not None and not ledger.allows("buffer-in-use", self.place):  # a write to a read-only array ends the run
            for region in self.regions:
                array = region.payload
                if type(array) is ndarray:
                    region.payload = array.view()  # which stays writable
                    region.locked = locks.lock((array.base,) if ours else (array, array.base), array.nbytes)
            if self.receive is not None:
                self.receive.target = self.regions[-1].payload
        return self

    def around(self, work: Callable[[], object]) -> Callable[[], None]:
        """Return the function that writes the result, preceded by a check that the program has not written to it."""
        written = [region for region in self.regions if region.writes]

        def checked_work() -> None:
            for region in written:
                region.check()
                region.restore()
            work()
            for region in written:
                region.accept_contents()

        timing = self.in_use.checks.timing
        if timing is None or not timing.late:
            return checked_work
        return lambda: self.at_end.append(work)

    def around_collective(
        self, reads: Sequence[Any], writes: Sequence[Any], work: Callable[[], object]
    ) -> Callable[[], None]:
        """Return the body of a collective call that reads and writes the program's memory when the schedule requires it.

        In a strict run without a schedule, the result is written when the call is complete.
        """
        checks = self.in_use.checks
        timing, written = checks.timing, [region for region in self.regions if region.writes]
        if timing is None:
            late, at_once = checks.strict, True
        else:
            late, at_once = timing.late, False
            if not late:
                self.at_end.append(_ending(detach(reads), False))
        attach = None
        if late:
            attach = _ending(detach(writes), True)
            for region in written:
                region.poison()
            self.at_end.append(attach)

        def checked_work() -> None:
            for region in written:
                region.check()
            work()
            if attach is not None and at_once:
                for region in written:
                    region.check()
                attach()
            for region in written:
                region.accept_contents()

        return checked_work

    def end(self) -> None:
        """End the use when the program learns that the operation is complete; report memory that changed before."""
        if not self._close():
            return
        for region in self.regions:
            region.check()
        if self.receive in self.in_use.checks.awaited:  # it was canceled
            self.in_use.checks.awaited.pop(self.receive).restore()
        self._finish()
        if not self.reported and any(region.changed for region in self.regions):
            call, place = call_and_place()
            sentence = f"its buffer was written to before {call} at {place} completed the operation"
            self.in_use.report("buffer-in-use", self.call, self.place, sentence)

    def drop(self) -> None:
        """End the use without a check: the program will not learn when the operation completes."""
        if self._close():
            self._finish()

    def _close(self) -> bool:
        in_use = self.in_use
        if in_use.live.pop(self, self) is not None:
            return False
        self.leave_windows()
        for region in self.regions:
            if in_use.checks.locks is not None:
                in_use.checks.locks.unlock(region.locked, frame_at(1))
            in_use.remove(region)
            region.use = None  # type: ignore[assignment]  # break the reference cycle, so that the buffer is freed at once
        return True

    def _finish(self) -> None:
        at_end, self.at_end = self.at_end, []
        for function in at_end:
            function()


class PartitionUses:
    """The memory that a partitioned operation uses, one use per partition.

    A partition that is sent is in use from Pready on, and one that is received until Parrived returns True or the operation
    completes. No array is made read-only: the program may write to one partition while another is being transferred.
    """

    __slots__ = ("in_use", "live", "operation")

    def __init__(self, in_use: Any, operation: Any, half: Any) -> None:
        self.in_use, self.operation = in_use, operation
        self.live: dict[int, MemoryUse] = {}
        half.watch_buffer(self)

    def send(self, number: int, envelope: Envelope) -> None:
        """Begin to use a partition that is sent."""
        use = MemoryUse(self.in_use, self.operation).using(envelope.payload, False)
        self.live[number] = use.timed().sending(envelope)

    def receive(self, number: int, receive: PostedReceive) -> None:
        """Begin to use a partition that is received."""
        self.live[number] = MemoryUse(self.in_use, self.operation).using(receive.target, True).timed().awaiting(receive)

    def arrived(self, number: int) -> None:
        """Check a partition: the program learns that it has arrived."""
        if number in self.live:
            self.live.pop(number).end()

    def end(self) -> None:
        """End all uses when the program learns that the operation is complete."""
        for number in list(self.live):
            self.arrived(number)

    def drop(self) -> None:
        """End all uses without a check."""
        for use in self.live.values():
            use.drop()


def payloads_of(buffers: Iterable[Any]) -> Iterable[Payload]:
    """Return the payloads of the buffers that a plan uses, each once."""
    lists = (buffer.parts if isinstance(buffer, (Flat, FlatVector)) else [buffer] for buffer in buffers)
    return {id(payload): payload for payloads in lists for payload in payloads}.values()


def _ending(attach: Callable[[bool], None], store: bool) -> Callable[[], None]:
    """Return a function that ends the work on copies, once."""
    is_open = True

    def end() -> None:
        nonlocal is_open
        if is_open:
            is_open = False
            attach(store)

    return end
