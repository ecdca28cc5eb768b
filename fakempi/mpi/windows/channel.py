"""The connection from one rank of a window to another: transfers arrive in the order in which they started.

A transfer needs no posted receive: it is also the receive that its envelope matches (core/network/envelope.py). The network
reports the arrival time when the transfer has its ports. The transfer arrives then, whatever the target's program does.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.envelope import Envelope, new_envelope
from fakempi.mpi.failures.state import FailureState


class WindowChannel:
    """The connection from one rank's part of a window to another's."""

    __slots__ = ("box", "dead", "in_flight", "receiver", "sender")

    def __init__(self, sender: Any, receiver: Any, box: Any) -> None:
        self.sender, self.receiver = sender, receiver  # the parts of the window on the two ranks
        self.box = box
        self.dead = receiver.process.universe.state(FailureState).dead
        self.in_flight: deque[ChannelTransfer] = deque()  # in the order of their starts

    def send(self, transfer: ChannelTransfer, nbytes: int) -> None:
        """Start a transfer now."""
        sender, box = self.sender, self.box
        transfer.channel = self
        transfer.envelope = envelope = new_envelope(sender.out, sender.rank, 0, nbytes, box, None, True)
        if sender.recorder is not None:
            envelope.posted, envelope.region, envelope.call = transfer.issued
            transfer.posted, transfer.call = transfer.awaited()
            envelope.eager = sender.recorder.ONE_SIDED  # which is true
        sender.network.send_matched(envelope, transfer)

    def deliver_next(self) -> None:
        """Deliver the oldest transfer in flight; transfers to a dead target are dropped."""
        first = self.in_flight.popleft()
        if self.receiver.process.number not in self.dead or first.reaches_dead:
            first.arrive()


class ChannelTransfer:
    """A transfer on a channel, with an effect at its arrival."""

    __slots__ = ("call", "channel", "end", "envelope", "issued", "posted")

    channel: WindowChannel
    envelope: Envelope | None  # None until it is sent
    end: Time | None  # arrival time
    issued: tuple[float, int, int]  # time, region and call of the operation, for a trace
    posted: float
    call: int
    reaches_dead: bool = False  # whether it is also delivered to a target that has died

    def __init__(self, part: Any, request: ChannelTransfer | None = None) -> None:
        self.envelope = self.end = None
        recorder = part.recorder
        if recorder is not None:  # a reply belongs to the call that requested it
            self.issued = part.loop.now, *(recorder.region_and_call() if request is None else request.issued[1:])

    def awaited(self) -> tuple[Any, int]:
        """Return, for a trace, the time since which a call awaits the transfer, and the call; by default, now and 0."""
        return self.channel.sender.loop.now, 0

    def sending(self) -> Any:
        """Return the object whose `end` is set once the end of the send is known; None if it was not sent."""
        return self.envelope

    @property
    def waiter(self) -> ChannelTransfer:
        """The object that the network notifies of the arrival time: the transfer itself."""
        return self

    def settled(self, end: Time) -> None:
        """Record that the transfer has started and arrives at `end`."""
        channel = self.channel
        if channel.sender.process.buffer_checks is not None:
            channel.sender.process.buffer_checks.one_sided += 1
        channel.in_flight.append(self)
        channel.sender.loop.call_at(end, channel.deliver_next)

    def arrive(self) -> None:
        """Take effect at the target."""
        raise NotImplementedError
