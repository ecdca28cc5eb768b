"""Operations in transit between the ranks of a window, and their effect at the target.

A Put and an Accumulate are one transfer. A Get and the operations that read and write are two: a request to the target, and
the data back. Each operation takes effect at one moment, its arrival at the target, so no operation sees part of another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy import ndarray

from fakempi.core.kernel.agenda import Time
from fakempi.mpi.base.call_site import call_and_place
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.buffers.payload import copy_into, snapshot
from fakempi.mpi.buffers.raw import U1, flat
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.interfaces.services import ChoicePoints, WindowUse
from fakempi.mpi.windows.channel import ChannelTransfer, WindowChannel


class Signal(ChannelTransfer):
    """A synchronization message without content: calls a function on arrival.

    `grant` is the grant that waits for it, if there is one.
    """

    __slots__ = ("grant", "then")

    def __init__(self, part: Any, then: Callable[[], None], request: Any = None, grant: Any = None) -> None:
        super().__init__(part, request)
        self.then, self.grant = then, grant

    def awaited(self) -> tuple[Any, int]:
        """Return the time and the call of the Lock or the Start, if it is for a grant."""
        return super().awaited() if self.grant is None else (self.grant.issued[0], self.grant.issued[2])

    def arrive(self) -> None:
        """Call the function."""
        self.then()


class Reply(Signal):
    """The data that return to the origin. Also delivered to a dead origin, so that an epoch of Fence can end."""

    __slots__ = ("requested",)
    reaches_dead = True

    def __init__(self, part: Any, then: Callable[[], None], request: RoundTrip) -> None:
        super().__init__(part, then, request)
        if part.recorder is not None:
            self.requested = request.posted

    def awaited(self) -> tuple[Any, int]:
        """Return the time at which the origin sent the request, and 0."""
        return self.requested, 0


class WindowOperation(ChannelTransfer):
    """An operation of an epoch. The epoch is a grant, or for Fence a number, 0 or 1."""

    __slots__ = ("access", "content", "epoch", "nbytes", "request", "route", "target_data", "use")

    returns = False
    """Whether data return to the origin."""

    use: WindowUse  # its use of the origin's memory, if buffers are checked

    route: WindowChannel
    epoch: Any
    access: Any  # the bytes that it accesses, if the target's stores are checked

    def __init__(self, part: Any, content: Payload, nbytes: int, target_data: Payload) -> None:
        self.envelope = self.end = None
        if part.recorder is not None:
            super().__init__(part)
        self.content = content  # at the origin: the program's memory, or a copy once the program may change that
        self.target_data = target_data  # at the target
        self.nbytes = nbytes  # bytes sent to the target
        self.request: Completion | None = None  # completes when its buffers may be reused

    @property
    def reaches_dead(self) -> bool:  # type: ignore[override]  # a property here, an attribute in the base class
        """Whether a dead target receives it: in an epoch of Fence, which fails anyway."""
        return self.epoch.__class__ is int

    def start(self, channel: WindowChannel) -> None:
        """Start the operation on a channel."""
        self.route = channel
        channel.send(self, self.nbytes)

    def settled(self, end: Time) -> None:
        """Record that the operation has started and arrives at `end`.

        In an epoch of Fence, no rank may access the data before the end of the epoch. The operation therefore takes effect
        at once, and only its arrival time is recorded: no event is needed.
        """
        channel, epoch = self.channel, self.epoch
        if channel.sender.process.buffer_checks is not None:
            channel.sender.process.buffer_checks.one_sided += 1
        if epoch.__class__ is int and not self.returns:
            self.take_effect()
            end_in_epoch(channel.sender, channel.receiver, epoch, end)
            return
        channel.in_flight.append(self)
        channel.sender.loop.call_at(end, channel.deliver_next)
        if self.request is not None and not self.returns:
            self.content = snapshot(self.content)
            self.request.complete(self.sending().end)

    def local_completion(self) -> Completion:
        """Return the completion after which the program may reuse the buffers."""
        if self.request is None:
            self.request = Completion(self.epoch)
            departure = self.sending()
            if not self.returns and departure is not None and departure.end is not None:
                self.content = snapshot(self.content)
                self.request.end = departure.end
        return self.request

    def arrive(self) -> None:
        """Take effect and complete."""
        self.take_effect()
        self.finish()

    def take_effect(self) -> None:
        """Apply the operation to the target's memory, with the checks of the target's stores."""
        sender, receiver = self.route.sender, self.route.receiver
        if receiver.stores is None:
            self.apply()
        else:
            receiver.stores.around(self)
        if sender.process.buffer_checks is not None and self.epoch.__class__ is not int:
            sender.process.buffer_checks.influences += 1  # the target may see the effect
            if self.returns:
                receiver.process.buffer_checks.influences += 1  # the origin sees the target's memory

    def apply(self) -> None:
        """Apply the operation to the target's memory."""
        raise NotImplementedError

    def finish(self) -> None:
        """Notify the epoch that the operation is complete."""
        epoch, sender, receiver = self.epoch, self.route.sender, self.route.receiver
        if epoch.__class__ is not int:
            epoch.finished(self)
            return
        end_in_epoch(sender, receiver, epoch, sender.loop.now)


def end_in_epoch(sender: Any, receiver: Any, epoch: int, end: Time) -> None:
    """Record that an operation of an epoch of Fence ends at `end`; both are parts of the window."""
    if end > sender.latest_ends[epoch]:
        sender.latest_ends[epoch] = end
    if end > receiver.latest_ends[epoch]:
        receiver.latest_ends[epoch] = end
    sender.outgoing[epoch] -= 1
    receiver.incoming[epoch] -= 1
    if sender.all_called:
        sender.try_complete()
    if receiver.all_called:
        receiver.try_complete()


class Put(WindowOperation):
    """A write to a target."""

    __slots__ = ()

    def apply(self) -> None:
        """Write the bytes."""
        content, target_data = self.content, self.target_data
        if type(content) is ndarray and type(target_data) is ndarray:
            (target_data if target_data.dtype is U1 else flat(target_data))[...] = flat(content)
        else:
            copy_into(content, target_data, self.nbytes)


class Accumulate(WindowOperation):
    """An update of a target's elements by `combine(source, target)`."""

    __slots__ = ("call_site", "combine")

    def __init__(
        self, part: Any, content: Payload, nbytes: int, target_data: Payload, combine: Callable[[Any, Any], None]
    ) -> None:
        super().__init__(part, content, nbytes, target_data)
        self.combine = combine
        self.call_site = _call_site(part)

    def start(self, channel: WindowChannel) -> None:
        """Start the operation now or, if the model checker chooses the order of atomic operations, when it is chosen."""
        start_in_order(self, super().start, channel)

    def apply(self) -> None:
        """Combine the elements."""
        self.combine(self.content, self.target_data)


class RoundTrip(WindowOperation):
    """An operation that returns the target's data to `result`, of `size` bytes.

    `change(content, target_data)`, if given, changes the target's data after they were read.
    """

    __slots__ = ("call_site", "change", "old_data", "result", "size")

    returns = True

    def __init__(
        self, part: Any, content: Payload, nbytes: int, target_data: Payload, result: Payload, size: int,
        change: Callable[[Any, Any], None] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(part, content, nbytes, target_data)
        self.result, self.size, self.change = result, size, change
        self.call_site = None if change is None else _call_site(part)

    def start(self, channel: WindowChannel) -> None:
        """Start the operation now or, if it changes data and the model checker chooses the order, when it is chosen."""
        start_in_order(self, super().start, channel)

    def apply(self) -> None:
        """Read the target's data, and change them."""
        self.old_data = snapshot(self.target_data)
        if self.change is not None:
            self.change(self.content, self.target_data)

    def arrive(self) -> None:
        """Take effect, and send the data back."""
        self.take_effect()
        receiver = self.route.receiver
        receiver.channel(self.route.sender.rank).send(Reply(receiver, self.deliver_result, self), self.size)

    def deliver_result(self) -> None:
        """Copy the data to the result buffer, and complete."""
        if self.route.sender.process.buffer_checks is None:
            copy_into(self.old_data, self.result, self.size)
        else:
            self.use.around(partial(copy_into, self.old_data, self.result, self.size))()
        if self.request is not None:
            self.request.complete(self.route.sender.loop.now)
        self.finish()


def _call_site(part: Any) -> tuple[str, str] | None:
    """Return the program's call and its location, in a run of the model checker."""
    if part.process.universe.choices is None:
        return None
    return call_and_place()


def start_in_order(
    operation: Accumulate | RoundTrip, start: Callable[[WindowChannel], None], channel: WindowChannel
) -> None:
    """Start an atomic operation: at once, unless the model checker chooses the order of atomic operations."""
    if operation.call_site is None or getattr(operation.epoch, "exclusive", False):
        return start(channel)
    operation.route = channel
    choices: ChoicePoints = channel.sender.process.universe.choices  # not None: `call_site` is set
    choices.add_atomic_operation(operation, operation.call_site, partial(start, channel))
