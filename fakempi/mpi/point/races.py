"""Wildcard receives that could have matched another message: a note in the list of findings, since many are intended.

Two messages race for a receive if both were sent before the receiving rank could inform another rank about the match. Each
matching message in the mailbox when a wildcard receive is matched is a candidate. If the rank sends no message before its
next wildcard receive, each matching message in the mailbox at that time is also a candidate for the previous one. Messages
that the rank's own messages may have caused are not counted, so each note is true. One run does not show all races of a
program; `fakempi check` finds others.

Only wildcard receives take additional time.
"""

from __future__ import annotations

from itertools import chain, islice

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox
from fakempi.mpi.base.call_site import call_and_place
from fakempi.mpi.base.process import Process

MAX_NOTES = 16
"""Upper limit of the notes for one mailbox; then the search ends, because it takes time, and equal notes are merged."""

MAX_MESSAGES = 256
"""Messages that one search examines."""


class Wildcards:
    """The last wildcard receive of a mailbox: call, place, messages that its rank had sent; and the notes so far."""

    __slots__ = ("call", "notes", "place", "receive", "sent")

    def __init__(self) -> None:
        self.receive: PostedReceive | None = None
        self.call = self.place = ""
        self.sent = self.notes = 0


def check_previous_wildcard(process: Process, box: Mailbox) -> None:
    """Before a wildcard receive is posted: look for another message that could have matched the previous one."""
    last = box.wildcards
    if last is None or last.receive is None:
        return
    receive, last.receive = last.receive, None
    if receive.envelope is not None and last.sent == process.out.sent:
        _note(process, receive, last)


def check_wildcard(process: Process, receive: PostedReceive) -> None:
    """After a wildcard receive is posted: look for another message that could match, or let the next receive do so."""
    box: Mailbox = receive.box
    if box.name.original is not None:  # a collective context
        return
    last = box.wildcards
    if last is None:
        last = box.wildcards = Wildcards()
    if last.notes >= MAX_NOTES:
        return
    if receive.envelope is None:
        last.receive, last.sent = receive, process.out.sent
        last.call, last.place = call_and_place()
    elif box.pending or box.delayed or box.lone_envelope is not None:
        last.call, last.place = call_and_place()
        _note(process, receive, last)


def _note(process: Process, receive: PostedReceive, last: Wildcards) -> None:
    taken: Envelope = receive.envelope
    box = receive.box
    sent = chain(box.envelopes(), *(box.delayed or {}).values())  # in the mailbox, or delayed in the network
    others = {
        envelope.out.number
        for envelope in islice(sent, MAX_MESSAGES)
        if envelope.out is not taken.out and receive.matches(envelope)
    }
    if others:
        last.notes += 1
        sentence = "messages from {others} match this receive; their order is not guaranteed"
        senders = [taken.out.number, *others]
        process.universe.report("wildcard-race", process.number, sentence, senders, call=last.call, place=last.place)
