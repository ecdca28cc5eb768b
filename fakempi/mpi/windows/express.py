"""The express way of a Put: an array, to memory in a row, in a fence's epoch, and both ports are free.

That is nearly every Put, and what the ordinary way does with it (`Operation.settled`) needs then neither an operation nor a
lane: a third of the time. Whatever is unusual goes the ordinary way, and a test sends the same programs both ways.
"""

from __future__ import annotations

import sys
from typing import Any

from numpy import ndarray

from fakempi.mpi.buffers.payload import describe
from fakempi.mpi.buffers.raw import U1
from fakempi.mpi.windows.races import PUT, Accesses, place_of


def put_at_once(part: Any, origin: Any, rank: Any, target: Any) -> bool:
    """Have a Put of the calling frame's caller done, if it is of that kind; False if nothing was done."""
    if part is None or part.fenced is None or origin.__class__ is not ndarray or rank.__class__ is not int:
        return False
    if part.locks or part.everywhere is not None or part.started is not None or part.recorder is not None:
        return False
    process, parts = part.process, part.window.parts
    if part.loop.running.owner is not process or not 0 <= rank < len(parts) or part.window.context.trouble is not None:
        return False
    there = parts[rank]
    if there.stores is not None or process.pins is not None:
        return False
    content, nbytes = describe(origin)
    memory = there.memory
    at = 0 if target is None else target * there.unit if target.__class__ is int else -1
    if at < 0 or not 0 < nbytes <= memory.nbytes - at or memory.__class__ is not ndarray or content.__class__ is not ndarray:
        return False
    end = part.wire.at_once(part.out, there.into, nbytes)
    if end is None:
        return False
    epoch = part.round & 1
    part.used = True
    accesses = there.accesses
    if accesses is None:
        accesses = there.accesses = Accesses(there)
    accesses.fenced[epoch].append((at, at + nbytes, PUT, process.number, place_of(sys._getframe(2)), None))
    if content.ndim != 1:
        content = content.reshape(-1)
    memory[at : at + nbytes] = content if content.dtype is U1 else content.view(U1)
    if end > part.until[epoch]:
        part.until[epoch] = end
    if end > there.until[epoch]:
        there.until[epoch] = end
    return True
