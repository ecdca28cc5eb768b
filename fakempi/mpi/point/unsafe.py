"""Unsafe sends: blocking sends that wait for one another in a circle where nothing is buffered.

A send whose receive is not posted yet goes on because it is buffered. Without buffering it would wait for its receive, and
so for all that the receiver does before: for the receiver's own sends in particular. So each such send needs, from when its
receive is posted, the last buffered send of the receiver before that, and always the sender's own one before it. If that
leads back to the send itself, the program would not end on a machine that buffers nothing, with the same messages for the
same receives. Circles through other calls (a send, a barrier, and only then the receive) are not seen here; `fakempi check`
runs programs without buffering.

To look takes about 7 microseconds, more than half a message, so unless the run is strict nobody looks any more after the
first `ENOUGH`: programs repeat themselves.
"""

from __future__ import annotations

import sys
from typing import Any

from fakempi.mpi.base.complain import public_call, site_of
from fakempi.wire.envelope import Envelope, Pattern

FAR = 1000
"""Sends on which one may depend: where there are more, nobody looks any further."""

ENOUGH = 2_000
"""Sends of a run that are looked at, unless it is strict."""

WHY = "would wait for ever where nothing is buffered: {others} send in a circle before anybody receives"


class Held:
    """A blocking send that was buffered, and what it would have waited for."""

    __slots__ = ("before", "call", "needs", "number", "place", "settled", "to")

    def __init__(self, number: int, to: int, call: str, place: str, before: Held | None) -> None:
        self.number, self.to = number, to  # the processes
        self.call, self.place = call, place
        self.before = before  # the sender's own one before it
        self.needs: Held | None = None  # the receiver's last one before its receive was posted
        self.settled = False  # whether that is known


def look_behind(process: Any, envelope: Envelope) -> None:
    """A blocking send is on its way: if its receive is not posted yet, it goes on only because it is buffered.

    If it is posted, by a receiver that waits there, that may have been possible only because a send of the receiver was.
    """
    universe, box = process.universe, envelope.box
    buffered = universe.buffered
    if box.lone_envelope is envelope or (box.pending and (envelope.source, envelope.tag) in box.pending):
        if box.name.original is None:
            if buffered is None:
                buffered = universe.buffered = BufferedSends(universe)
            buffered.add(envelope)
    elif buffered is not None and box.owner in buffered.last and box.name.original is None:
        buffered.add_received(envelope)


class BufferedSends:
    """Those of a run that matter still. It puts itself between the wire and whoever is told of what has met."""

    def __init__(self, universe: Any) -> None:
        self.universe = universe
        self.held: dict[int, tuple[Envelope, Held]] = {}  # by the envelope's address
        self.last: dict[int, Held] = {}  # by process
        self.left = -1 if universe.strict else ENOUGH  # to be looked at
        self.matched, universe.wire.matched = universe.wire.matched, self.meet

    def add(self, envelope: Envelope) -> None:
        """A blocking send, for which nobody has posted a receive."""
        self.held[id(envelope)] = envelope, self._new(envelope)

    def add_received(self, envelope: Envelope) -> None:
        """A blocking send to a process whose own were buffered: does that wait for it in a receive, come to since?"""
        task = self.universe.processes[envelope.box.owner].task
        if getattr(task.reason, "envelope", None) is envelope:
            frame = self.universe.loop.carrier.frames([task]).get(task)
            if public_call(frame)[0] in ("Recv", "recv"):
                self._settle(self._new(envelope))

    def _new(self, envelope: Envelope) -> Held:
        self.left -= 1
        if not self.left:
            wire = self.universe.wire
            wire.looks_behind, wire.matched = False, self.matched
        number = envelope.out.number
        call, frame = public_call(sys._getframe(1))
        held = self.last[number] = Held(number, envelope.box.owner, call, site_of(frame), self.last.get(number))
        return held

    def meet(self, envelope: Envelope, pattern: Pattern) -> None:
        """An envelope meets a pattern; if it is one of these, the receive has just been posted."""
        self.matched(envelope, pattern)
        found = self.held.pop(id(envelope), None)
        if found is not None:
            self._settle(found[1])

    def _settle(self, held: Held) -> None:
        """All that its receiver has sent by now came before the receive."""
        held.settled, held.needs = True, self.last.get(held.to)
        if held.needs is None and held.before is None:
            self._forget([held])
        else:
            self._follow(held)

    def _follow(self, start: Held) -> None:
        """Look whether a send needs itself; if all that it needs is known and it does not, it is forgotten."""
        came: dict[Held, Held] = {}
        ahead, known = [start], True
        while ahead and len(came) < FAR:
            one = ahead.pop()
            known = known and one.settled
            for other in (one.needs, one.before):
                if other is start:
                    came[start] = one
                    return self._tell(start, came)
                if other is not None and other not in came:
                    came[other] = one
                    ahead.append(other)
        if known and not ahead:
            self._forget([start, *came])

    def _tell(self, start: Held, came: dict[Held, Held]) -> None:
        circle, one = [start], came[start]
        while one is not start:
            circle.append(one)
            one = came[one]
        everybody = [one.number for one in circle]
        for one in circle:
            if one.needs in circle:
                self.universe.found("unsafe-send", one.number, WHY, everybody, call=one.call, place=one.place)
        self._forget(circle)

    def _forget(self, those: list[Held]) -> None:
        for one in those:
            one.before = one.needs = None
            if self.last.get(one.number) is one:
                del self.last[one.number]
