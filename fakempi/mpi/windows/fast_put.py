"""The fast path of a Put: from an array to contiguous memory, in a Fence epoch.

Nearly every Put is of this kind; all others use the general path (`WindowOperation.settled`), which does the same with a
`WindowOperation` and a channel, and takes longer. A test runs the same programs on both paths.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from numpy import ndarray

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.envelope import new_envelope
from fakempi.mpi.buffers.payload import describe
from fakempi.mpi.buffers.raw import U1
from fakempi.mpi.windows.operations import end_in_epoch
from fakempi.mpi.windows.races import PUT, TargetAccesses, source_line


def fast_put(part: Any, origin: Any, rank: Any, target: Any, caller: FrameType) -> bool:
    """Carry out a Put if the fast path applies; otherwise do nothing and return False.

    `part` is the calling rank's part of the window, `rank` the target rank, `target` the displacement (None: 0), and
    `caller` the frame that called Put.
    """
    if part is None or part.fence_place is None or origin.__class__ is not ndarray or rank.__class__ is not int:
        return False
    if part.locks or part.lock_all is not None or part.started is not None or part.recorder is not None:
        return False
    process, parts = part.process, part.window.parts
    if part.loop.running.acts_for is not process or not 0 <= rank < len(parts):
        return False
    if part.window.context.fault_state is not None:
        return False
    target_part = parts[rank]
    if target_part.stores is not None or process.buffer_checks is not None:
        return False
    content, nbytes = describe(origin)
    memory = target_part.memory
    start = 0 if target is None else target * target_part.unit if target.__class__ is int else -1
    if start < 0 or not 0 < nbytes <= memory.nbytes - start:
        return False
    if memory.__class__ is not ndarray or content.__class__ is not ndarray:
        return False
    epoch = part.fence_count & 1
    part.fence_has_operations = True
    accesses = target_part.accesses
    if accesses is None:
        accesses = target_part.accesses = TargetAccesses(target_part)
    accesses.by_fence[epoch].append((start, start + nbytes, PUT, process.number, source_line(caller), None, ""))
    part.outgoing[epoch] += 1
    target_part.incoming[epoch] += 1
    envelope = new_envelope(part.out, part.rank, 0, nbytes, part.channel(rank).box, None, True)
    part.network.send_matched(envelope, _Arrival(part, target_part, epoch, content, memory[start : start + nbytes]))
    return True


class _Arrival:
    """The receive of the message of a Put, and its waiter: copies the data, and records the time of arrival."""

    __slots__ = ("content", "end", "epoch", "memory", "receiver", "sender")

    def __init__(self, sender: Any, receiver: Any, epoch: int, content: ndarray, memory: ndarray) -> None:
        self.sender, self.receiver, self.epoch, self.content, self.memory = sender, receiver, epoch, content, memory
        self.end: Time | None = None

    @property
    def waiter(self) -> _Arrival:
        """The object that the network notifies of the arrival time."""
        return self

    def settled(self, end: Time) -> None:
        """Record that the data arrive at `end`. No rank may access them before the end of the epoch, so copy them now."""
        content = self.content if self.content.ndim == 1 else self.content.reshape(-1)
        self.memory[...] = content if content.dtype is U1 else content.view(U1)
        end_in_epoch(self.sender, self.receiver, self.epoch, end)
