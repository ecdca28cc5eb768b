"""The two sides of a message: the envelope that was sent, and the receive of a posted receive.

Both have an `end`, the time at which the send or the receive ends. It is None until it is known; then `waiter.settled(end)`
is called. The layer above determines the contents (`payload`) and their destination (`target`). Envelopes and receives are
elements of linked lists (`next`, `last`), so that a mailbox needs no queue object for each sender.
"""

from __future__ import annotations

from typing import Any


class Envelope:
    """A message from a process to a mailbox of another process."""

    __slots__ = (
        "arrived", "box", "call", "call_site", "eager", "end", "flight", "last", "met", "nbytes", "needs", "next", "number",
        "out", "payload", "posted", "receive", "region", "route", "serial", "source", "stage", "step", "tag", "task", "tie",
        "waiter",
    )  # fmt: skip

    posted: Any  # set if a trace is recorded: when it was sent
    call: Any  # index of the program's call in the trace; 0 if it is not known yet
    region: Any  # set if a trace is recorded: the collective call that sends it
    call_site: Any  # the line of the program that sends it, if the sender has set it
    # Steps of the program, set by the detection of unsafe sends (mpi/base/unbuffered.py):
    needs: Any  # the step on which the send depends
    met: Any  # the step on which the matching receive depends
    step: Any  # the buffered send itself, until it is matched
    route: Any  # its ports, in the order in which it takes them
    stage: int  # the number of ports that it has taken
    flight: Any  # its times on the way, if it has latency
    serial: int  # its position in the order of sends, those at one time by process; set if its transfer starts later
    task: int  # the position of the task that sends it among those of its process; set if processes have several tasks
    tie: Any  # set if a run has a seed: when it was sent, and a random number
    number: int  # its position in the order of claims at shared ports, or of arrivals at the mailbox
    next: Any
    last: Any

    out: Any  # the sender's output port
    source: int  # the sender's number in the mailbox's context
    tag: int
    nbytes: int
    box: Any
    payload: Any
    eager: bool  # its transfer starts before it is matched
    end: Any  # when the send ends
    arrived: Any  # when its transfer ends; None until the transfer starts
    receive: Any  # its match, until its transfer starts
    waiter: Any


def new_envelope(
    out: Any, source: int, tag: int, nbytes: int, box: Any, payload: Any, eager: bool, call: Any = 0
) -> Envelope:
    """Return an envelope that has not been sent.

    This is not an `__init__`: in Python 3.11, a call of a function takes three quarters of the time of a call of a class.
    """
    self = Envelope()
    self.out = out
    self.source = source
    self.tag = tag
    self.nbytes = nbytes
    self.box = box
    self.payload = payload
    self.eager = eager
    self.call = call
    self.end = self.arrived = self.receive = self.waiter = None
    return self


class PostedReceive:
    """A posted receive: its source and its tag; a negative value matches any."""

    __slots__ = (
        "box", "call", "call_site", "capacity", "end", "envelope", "last", "needs", "next", "number", "observed", "posted",
        "source", "tag", "target", "waiter",
    )  # fmt: skip

    observed: bool  # set when the program learns the source or the tag of the message
    posted: Any  # set if a trace is recorded: when it was posted
    call: Any  # index of the program's call in the trace; 0 if no trace is recorded
    needs: Any  # the step of the program on which the receive depends (mpi/base/unbuffered.py)
    call_site: Any  # the line of the program that posts it, if the receiver has set it
    number: int  # its position in the order of arrivals at the mailbox
    next: Any
    last: Any

    source: int
    tag: int
    box: Any
    target: Any
    capacity: int
    end: Any  # when the message has arrived
    envelope: Any  # its match
    waiter: Any

    def matches(self, envelope: Envelope) -> bool:
        """Return whether an envelope matches."""
        return (self.source < 0 or self.source == envelope.source) and (self.tag < 0 or self.tag == envelope.tag)


def new_receive(source: int, tag: int, box: Any, target: Any, capacity: int) -> PostedReceive:
    """Return a receive that has not been posted."""
    self = PostedReceive()
    self.source = source
    self.tag = tag
    self.box = box
    self.target = target
    self.capacity = capacity
    self.call = 0
    self.end = self.envelope = self.waiter = None
    return self
