"""Wildcard receives that could have had another message: a note in the list of findings, for many are intended.

Two messages race for a receive if both were sent before its rank could have told anybody what it got. So whoever is in the
mailbox with a fitting message when a wildcard receive takes one is a candidate; and when the rank comes to its next wildcard
receive and has sent nothing meanwhile, so is whoever is there then, for the one before. What a rank's own messages may have
caused is not counted, so each note is true; not all races of a program show in one run. `fakempi check` finds others.

Only wildcard receives pay for it.
"""

from __future__ import annotations

import sys
from itertools import chain, islice
from typing import Any

from fakempi.mpi.base.complain import public_call, site_of
from fakempi.wire.envelope import Envelope, Pattern

MOST = 16
"""Notes at one mailbox, after which nobody looks any more: they are folded, and to find them takes time."""

FEW = 256
"""Messages that are looked at, at one time."""


class Wildcards:
    """Of a mailbox: the wildcard receive that was posted last, where, what its rank had sent by then, and how many notes."""

    __slots__ = ("call", "notes", "pattern", "place", "sent")

    def __init__(self) -> None:
        self.pattern: Pattern | None = None
        self.call = self.place = ""
        self.sent = self.notes = 0


def look_back(comm: Any, box: Any) -> None:
    """A rank is about to post a wildcard receive: is there another message that the one before could have had?"""
    last = box.wildcards
    if last is None or last.pattern is None:
        return
    pattern, last.pattern = last.pattern, None
    if comm._process.universe.paper is not None:
        comm._process.universe.paper.settle()  # what the rank has sent since
    if pattern.envelope is not None and last.sent == comm._out.sent:
        _note(comm, pattern, last)


def look_around(comm: Any, pattern: Pattern) -> None:
    """A wildcard receive is posted: if it has its message, could it have had another? If not, look when the next one is."""
    box: Any = pattern.box
    if box.name.original is not None:  # ours, for collectives
        return
    last = box.wildcards
    if last is None:
        last = box.wildcards = Wildcards()
    if last.notes >= MOST:
        return
    if pattern.envelope is None:
        last.pattern, last.sent = pattern, comm._out.sent
        last.call, frame = public_call(sys._getframe(1))
        last.place = site_of(frame)
    elif box.pending or box.delayed or box.lone_envelope is not None:
        last.call, frame = public_call(sys._getframe(1))
        last.place = site_of(frame)
        _note(comm, pattern, last)


def _note(comm: Any, pattern: Pattern, last: Wildcards) -> None:
    taken: Envelope = pattern.envelope
    box = pattern.box
    sent = chain(box.envelopes(), *(box.delayed or {}).values())  # they are there, or held up on the way
    others = {one.out.number for one in islice(sent, FEW) if one.out is not taken.out and pattern.fits(one)}
    if others:
        last.notes += 1
        sentence = "{others} have sent what it could take, and which comes first is not certain"
        senders = [taken.out.number, *others]
        process = comm._process
        process.universe.found(
            "wildcard-race", process.number, sentence, senders, call=last.call, place=last.place
        )
