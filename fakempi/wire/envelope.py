"""The two halves of a message: the envelope that somebody sent and the pattern that somebody waits for.

Both end at a time that is None until it is known; whoever waits then is told with `waiter.settled(end)`. What is inside
(`content`) and where it goes (`place`) is the business of whoever made them. Both are links of chains (`next`, `last`),
so that a mailbox needs no queue object for each sender.
"""

from __future__ import annotations

from typing import Any


class Envelope:
    """A message on its way from one process to a mailbox of another."""

    __slots__ = (
        "arrived", "box", "call", "content", "eager", "end", "last", "nbytes", "next", "number", "origin", "out", "pattern",
        "posted", "region", "route", "source", "stage", "tag", "waiter",
    )  # fmt: skip

    posted: Any  # three things that whoever watches wants to remember of it
    call: Any  # that of a receive by the same call, or 0
    region: Any
    origin: Any  # where it comes from, if whoever sent it has said so
    route: Any  # its ports, and how many of them it has
    stage: int
    number: int  # its turn at shared ports, or its place among all that came to the mailbox
    next: Any
    last: Any

    out: Any  # the sender's out-port
    source: int  # what the sender is called at the mailbox
    tag: int
    nbytes: int
    box: Any
    content: Any
    eager: bool  # travels without waiting to be matched
    end: Any  # when the sender is done
    arrived: Any  # when all of it is there; None while it has not started
    pattern: Any  # what it was matched with, until it travels
    waiter: Any


def new_envelope(
    out: Any, source: int, tag: int, nbytes: int, box: Any, content: Any, eager: bool, call: Any = 0
) -> Envelope:
    """An envelope that has not been sent.

    Not an `__init__`, nor that of patterns: Python 3.11 calls a function at three quarters of the price of a class.
    """
    self = Envelope()
    self.out = out
    self.source = source
    self.tag = tag
    self.nbytes = nbytes
    self.box = box
    self.content = content
    self.eager = eager
    self.call = call
    self.end = self.arrived = self.pattern = self.waiter = None
    return self


class Pattern:
    """A message that somebody waits for: from a source, with a tag; a negative number means any."""

    __slots__ = (
        "box", "call", "capacity", "end", "envelope", "last", "next", "number", "origin", "place", "posted",
        "source", "tag", "told", "waiter",
    )  # fmt: skip

    told: bool  # set when somebody is told who sent what it got
    posted: Any  # two things that whoever watches wants to remember of it
    call: Any  # 0 unless somebody watches
    origin: Any  # where it comes from, if whoever waits has said so
    number: int  # its place among all that came to the mailbox
    next: Any
    last: Any

    source: int
    tag: int
    box: Any
    place: Any
    capacity: int
    end: Any  # when the message is there
    envelope: Any  # what it was matched with
    waiter: Any

    def fits(self, envelope: Envelope) -> bool:
        """Whether this is a message that I wait for."""
        return (self.source < 0 or self.source == envelope.source) and (self.tag < 0 or self.tag == envelope.tag)


def new_pattern(source: int, tag: int, box: Any, place: Any, capacity: int) -> Pattern:
    """A pattern that nothing is awaited with yet."""
    self = Pattern()
    self.source = source
    self.tag = tag
    self.box = box
    self.place = place
    self.capacity = capacity
    self.call = 0
    self.end = self.envelope = self.waiter = None
    return self
