"""The recorder: packs the events of a run into rows of numbers. It keeps no object per event.

It subscribes to the network's hooks (`watch`), so an untraced run has no overhead. A message costs one packed row, one
stack inspection on either side (one for both in a Sendrecv, none in a collective call), and, if it arrives before its
receive is posted, an update of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

from fakempi.core.hooks import Layer
from fakempi.trace.call_finder import CallFinder, Calls, InternedValues, frame_at
from fakempi.trace.columns import COMPUTES, NEVER, ONE_SIDED, PASSIVE, REGIONS, TRANSFERS
from fakempi.trace.wait_names import POLLING


class TransferHooks(NamedTuple):
    """Functions that the network calls for each transfer; `fakempi.core.network.delivery` specifies when."""

    started: Callable[[Any, Any, float, float, float], None]
    met: Callable[[Any, Any], None]


class MessageHooks(NamedTuple):
    """Subscriber to the points where a message is sent, a receive is posted, and where it takes a message that waited."""

    layer: Layer
    send: Callable[[Callable[[Any], None], Any], None]
    post_receive: Callable[[Callable[[Any], None], Any], None]
    match_waiting: Callable[[Callable[[Any, Any], None], Any, Any], None]


class PollHook(NamedTuple):
    """Subscriber to the point of the loop where a task has polled without success."""

    layer: Layer
    poll: Callable[[Callable[[], None]], None]


NOWHERE = (-1, 0)
"""Region and call of a task outside all regions."""

NEVER_POLLED = (0, None, 0)
"""The last poll of a task that has not polled: offset of the region, end, call."""


class TraceRecorder:
    """Collects transfers, compute intervals and regions during a run.

    `clock` has the time (`now`) and the `running` task. `is_ours(frame)` returns whether a stack frame belongs to fakempi or
    to a collective algorithm, not to the program.
    """

    ONE_SIDED = ONE_SIDED  # of envelopes of windows, instead of True

    def __init__(self, clock: Any, is_ours: Callable[[FrameType], bool]) -> None:
        self.clock = clock
        self.transfers, self.computes, self.regions = bytearray(), bytearray(), bytearray()
        self.calls = Calls(is_ours)
        self.names = InternedValues("")
        self.recording: Sequence[bytes] = ()  # the calls of each rank as lines, if they were recorded for a replay
        self._inside: dict[Any, tuple[int, int]] = {}  # task -> its innermost region, and the call of that region, or 0
        self._of_parts: set[int] = set()  # offsets of open regions that take the algorithm of a nested region
        self._polls: dict[Any, tuple[int, Any, int]] = {}  # task -> its last poll: offset of the region, end, call

    # -- transfers ------------------------------------------------------------------------------------------------

    def watch(self, network: Any) -> None:
        """Record all messages of a network from now on."""
        clock, inside, sites = self.clock, self._inside, self.calls.sites
        sends, receives = CallFinder(self.calls), CallFinder(self.calls)
        rows, pack = self.transfers, TRANSFERS.pack
        patch, offset = TRANSFERS.patch("awaited", "receive_call")

        def watched_send(send: Callable[[Any], None], envelope: Any) -> None:
            region, call = inside.get(clock.running, NOWHERE) if inside else NOWHERE
            call = call or envelope.call
            if not call:
                try:
                    callee: Any = frame_at(sends.near - 1)
                    code, called, call = sites[callee.f_back.f_lasti]
                    if called is not callee.f_code or code is not callee.f_back.f_code:
                        call = sends.find()
                except (AttributeError, KeyError, ValueError):
                    call = sends.find()
            envelope.posted, envelope.region, envelope.call = clock.now, region, call
            send(envelope)

        def started(envelope: Any, receive: Any, start: float, sent: float, arrived: float) -> None:
            nonlocal rows
            box = envelope.box
            time, call, region = envelope.posted, envelope.call, envelope.region
            awaited, receive_call = (NEVER, 0) if receive is None else (receive.posted, receive.call)
            if receive is None:
                envelope.posted, envelope.call = None, len(rows)  # offset of the row, which the receive completes
            rows += pack(
                time, start, sent, arrived, awaited, receive_call, call, envelope.nbytes,
                envelope.out.number, box.owner, envelope.tag, box.name.context.number, region, envelope.eager,
            )  # fmt: skip

        def watched_receive(post_receive: Callable[[Any], None], receive: Any) -> None:
            call = inside.get(clock.running, NOWHERE)[1] if inside else 0
            if not call:
                try:
                    callee: Any = frame_at(receives.near - 1)
                    code, called, call = sites[callee.f_back.f_lasti]
                    if called is not callee.f_code or code is not callee.f_back.f_code:
                        call = receives.find()
                except (AttributeError, KeyError, ValueError):
                    call = receives.find()
            receive.posted, receive.call = clock.now, call
            post_receive(receive)
            if receive.envelope is not None:
                met(receive.envelope, receive)

        def watched_match(match_waiting: Callable[[Any, Any], None], envelope: Any, receive: Any) -> None:
            if not hasattr(receive, "posted"):  # the message was found by a probe, and is received now
                receive.posted, receive.call = clock.now, self.call()
            match_waiting(envelope, receive)
            met(envelope, receive)

        def met(envelope: Any, receive: Any) -> None:
            if envelope.posted is None:
                patch(rows, envelope.call + offset, receive.posted, receive.call)

        network.subscribe(MessageHooks(Layer.TRACE, watched_send, watched_receive, watched_match))
        network.watcher = TransferHooks(started, met)

    def call(self) -> int:
        """Return the index of the program's current call: its name, file and line."""
        return self.calls.current_call()

    def region_and_call(self) -> tuple[int, int]:
        """Return the region of the running task, and its call."""
        region, call = self._inside.get(self.clock.running, NOWHERE)
        return region, call or self.calls.current_call()

    # -- polling --------------------------------------------------------------------------------------------------

    def watch_polls(self, loop: Any) -> None:
        """Record the intervals in which tasks of a loop poll without success, from now on."""
        patch, offset = _END

        def watched_poll(poll: Callable[[], None]) -> None:
            task, since = loop.running, loop.now
            poll()
            now = loop.now
            if now == since or task.owner is None:
                return
            call = self.call()
            row, end, last_call = self._polls.get(task, NEVER_POLLED)
            if end == since and last_call == call:
                patch(self.regions, row + offset, now)
            else:
                row = len(self.regions)
                self.record(task.owner.number, POLLING, since, now, call=call)
            self._polls[task] = row, now, call

        loop.subscribe(PollHook(Layer.TRACE, watched_poll))

    # -- computing and regions ------------------------------------------------------------------------------------

    def computed(self, rank: int, start: float, end: float) -> None:
        """Record a compute interval of a rank."""
        inside = self._inside.get(self.clock.running)
        call = inside[1] if inside else 0
        self.computes += COMPUTES.pack(start, end, rank, call or self.call())

    def enter(
        self,
        rank: int,
        name: str,
        *,
        algorithm: str = "",
        call: int = 0,
        lane: int = 0,
        context: int = 0,
        number: int = 0,
        root: int = -1,
        nbytes: int = 0,
        algorithm_of_part: bool = False,
    ) -> tuple[int, Any]:
        """Start a region of the running task; returns the arguments of `leave`.

        A collective call has a `call`, which its messages share. With `algorithm_of_part`, the region takes the algorithm of
        the last nested region.
        """
        task = self.clock.running
        before = self._inside.get(task)
        row = len(self.regions)
        if algorithm_of_part:
            self._of_parts.add(row)
        elif before is not None and (parent := before[0] * REGIONS.size) in self._of_parts:
            patch, offset = _ALGORITHM
            patch(self.regions, parent + offset, self.names.number(algorithm))
        self.regions += REGIONS.pack(
            self.clock.now, NEVER, nbytes, rank, self.names.number(name), self.names.number(algorithm), call, lane,
            -1 if before is None else before[0], context, number, root,
        )  # fmt: skip
        self._inside[task] = (row // REGIONS.size, call or (before[1] if before else 0))
        return row, before

    def record(
        self, rank: int, name: str, start: float, end: float, *, call: int = 0, context: int = 0, number: int = 0
    ) -> None:
        """Record an interval as a region that contains nothing. `call` is 0 if the interval is not in a call."""
        self.regions += REGIONS.pack(
            start, end, 0, rank, self.names.number(name), self.names.number(""), call, PASSIVE, -1, context, number, -1
        )

    def in_call(self) -> bool:
        """Return whether the running task is in a region with a call."""
        return self._inside.get(self.clock.running, NOWHERE)[1] != 0

    def leave(self, row: int, before: Any) -> None:
        """End the region that the running task has entered last."""
        if before is None:
            del self._inside[self.clock.running]
        else:
            self._inside[self.clock.running] = before
        self._of_parts.discard(row)
        patch, offset = _END
        patch(self.regions, row + offset, self.clock.now)


_END, _ALGORITHM = REGIONS.patch("end"), REGIONS.patch("algorithm")
