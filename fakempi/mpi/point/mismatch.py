"""Messages that are received as something else than was sent: wrong data, and so a finding.

Types travel with messages: a payload's dtype, or its datatype, says what is in it. If sender and receiver have the same,
which most have, nobody comes here; else their signatures are compared. That takes no time where all is right.

Both calls are named, and nothing is noted for that in advance: a rank is still in its call, as its stack shows, or has left
its place with a request, or with a message that nobody had received (`origin`).
"""

from __future__ import annotations

import sys
from typing import Any

from fakempi.mpi.base.complain import is_ours, public_call, site_of
from fakempi.mpi.buffers.payload import Payload, is_called_bytes, signature_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NOTHING
from fakempi.wire.envelope import Envelope, Pattern

_DOORS = (
    "_post", "_await", "_await_unusual", "_receive",
    "Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace", "sendrecv",
)  # fmt: skip
"""Where envelopes and patterns are made and given to the wire, and who has one of each at hand."""

_PICKLES = signature_of(NOTHING)
Place = tuple[str, str]
"""What was called, and where."""


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
    """Which call has made it, and where, if that was left with it, or if its rank is still in it."""
    origin = getattr(item, "origin", None)
    if origin is not None:
        return origin.call, origin.place
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _DOORS and any(each is item for each in frame.f_locals.values()):
            break
        frame = frame.f_back
    if frame is None:
        task = universe.processes[number].task
        frame = universe.loop.carrier.frames([task]).get(task)
        if not (_waits_for(task.reason, item) or _has_at_hand(frame, item)):
            return None
    call, program = public_call(frame)
    return call, site_of(program)


def _has_at_hand(frame: Any, item: Any) -> bool:
    """Whether a rank is in a call of ours that deals with it: one that has ended in modelled time and is about to return."""
    while frame is not None and is_ours(frame):
        if any(each is item for each in frame.f_locals.values()):
            return True
        frame = frame.f_back
    return False


def _waits_for(reason: Any, item: Any) -> bool:
    if isinstance(reason, tuple):
        return any(_waits_for(each, item) for each in reason)
    return reason is item
