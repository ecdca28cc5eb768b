"""Messages that are received as something else than was sent: wrong data, and so a finding.

Types travel with messages: a payload's dtype, or its datatype, says what is in it. If sender and receiver have the same,
which most have, nobody comes here; else their signatures are compared. That takes no time where all is right.

Both calls are named. Where a call stood is noted for the first calls of a run, and in a strict run for all of them
(`note_calls`); later it is known only of those who still are in their call.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from fakempi.mpi.base.complain import public_call, site_of
from fakempi.mpi.buffers.payload import Payload, is_called_bytes, signature_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NOTHING
from fakempi.wire.envelope import Envelope, Pattern

_DOORS = (
    "_post", "_await", "_await_unusual", "_receive",
    "Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace", "sendrecv",
)  # fmt: skip
"""Where envelopes and patterns are made and given to the wire, and who has one of each at hand."""

NOTED = 256
"""Sends and receives of a run that are noted: that takes about 2 microseconds each."""

_PICKLES = signature_of(NOTHING)
Place = tuple[str, str]
"""What was called, and where."""


def note_calls(wire: Any, always: bool) -> None:
    """Note where envelopes and patterns are made: who does so stands before the doors of the wire, for a while."""
    left = math.inf if always else NOTED
    doors = {name: getattr(wire, name) for name in ("send", "expect", "join")}

    def noting(door: Callable[..., None]) -> Callable[..., None]:
        def noted(*items: Any) -> None:
            nonlocal left
            item = items[-1]
            if item.box.name.original is None and not hasattr(item, "site"):  # neither our own algorithms' nor known
                call, frame = public_call(sys._getframe(1))
                item.site = None if frame is None else (call, frame.f_code, frame.f_lasti)
                left -= 1
                if left <= 0:
                    for name, way in standing.items():
                        if getattr(wire, name) is way:  # else the run is over
                            delattr(wire, name)
            door(*items)

        return noted

    standing = {name: noting(door) for name, door in doors.items()}
    for name, way in standing.items():
        setattr(wire, name, way)


def compare(envelope: Envelope, pattern: Pattern) -> None:
    """A message has met its receive, and their payloads are not of one dtype: are they of one signature?"""
    content, place = envelope.content, pattern.place
    if not envelope.nbytes or envelope.box.name.original is not None:
        return
    if isinstance(content, (bytes, tuple)):
        if not is_called_bytes(place):
            _tell(envelope, pattern, "pickle-met-buffer", "an object", _words(place, pattern.capacity))
        return
    if type(content) is Phantom or type(place) is Phantom:
        return
    sent, taken = signature_of(content), signature_of(place)
    if not sent.agrees(taken, envelope.nbytes):
        _tell(envelope, pattern, "datatype-mismatch", sent.words(envelope.nbytes), taken.words(pattern.capacity))


def compare_object(envelope: Envelope, pattern: Pattern) -> None:
    """A buffer has met a receive of an object: bytes may be a pickle, and if not, nobody can unpack them."""
    content = envelope.content
    if not envelope.nbytes or envelope.box.name.original is not None or type(content) is Phantom:
        return
    if not signature_of(content).agrees(_PICKLES, envelope.nbytes):
        _tell(envelope, pattern, "pickle-met-buffer", _words(content, envelope.nbytes), "an object")


def _words(payload: Payload, nbytes: int) -> str:
    return f"{nbytes} bytes" if type(payload) is Phantom else signature_of(payload).words(nbytes)


def _tell(envelope: Envelope, pattern: Pattern, kind: str, sent: str, taken: str) -> None:
    box: Any = pattern.box
    universe, sender = box.name.context.universe, envelope.out.number
    call, place = _call_of(universe, box.owner, pattern) or ("a receive", "?")
    there = _call_of(universe, sender, envelope)
    by = "" if there is None else f" at {there[1]}" if kind == "datatype-mismatch" else f" by {there[0]} at {there[1]}"
    sentence = f"takes {taken}, but {{others}} sent {sent}{by}"
    universe.found(kind, box.owner, sentence, [sender], call=call, place=place, at_once=True)


def _call_of(universe: Any, number: int, item: Any) -> Place | None:
    """Which call has made it, and where, if that was noted, or if its rank is still in it."""
    site, origin = getattr(item, "site", None), getattr(item, "origin", None)
    if site is not None:
        return site[0], _place_of(*site[1:])
    if origin is not None:
        return origin.call, origin.place
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _DOORS and any(each is item for each in frame.f_locals.values()):
            break
        frame = frame.f_back
    task = universe.processes[number].task
    if frame is None and _waits_for(task.reason, item):
        frame = universe.loop.carrier.frames([task]).get(task)
    if frame is None:
        return None
    call, program = public_call(frame)
    return call, site_of(program)


def _waits_for(reason: Any, item: Any) -> bool:
    if isinstance(reason, tuple):
        return any(_waits_for(each, item) for each in reason)
    return reason is item


def _place_of(code: CodeType, instruction: int) -> str:
    """A file and line, from the code of a call and how far into it."""
    lines = (line for start, end, line in code.co_lines() if start <= instruction < end and line is not None)
    return f"{os.path.basename(code.co_filename)}:{next(lines, code.co_firstlineno)}"
