"""The fast path of a Put: from an array to contiguous memory, in a Fence epoch, while both ports are free.

Nearly every Put is of this kind; all others use the general path (`WindowOperation.settled`). The general path takes three
times as long, because it creates a `WindowOperation` and uses a channel. A test runs the same programs on both paths.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from numpy import ndarray

from fakempi.mpi.buffers.payload import describe
from fakempi.mpi.buffers.raw import U1
from fakempi.mpi.windows.races import PUT, TargetAccesses, place_of


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
    end = part.network.at_once(part.out, target_part.into, nbytes)
    if end is None:
        return False
    epoch = part.fence_count & 1
    part.fence_has_operations = True
    accesses = target_part.accesses
    if accesses is None:
        accesses = target_part.accesses = TargetAccesses(target_part)
    accesses.by_fence[epoch].append((start, start + nbytes, PUT, process.number, place_of(caller), None, ""))
    if content.ndim != 1:
        content = content.reshape(-1)
    memory[start : start + nbytes] = content if content.dtype is U1 else content.view(U1)
    if end > part.latest_ends[epoch]:
        part.latest_ends[epoch] = end
    if end > target_part.latest_ends[epoch]:
        target_part.latest_ends[epoch] = end
    return True
