"""Where the program began something, for whoever finds out at the end of a run that nothing came of it.

Requests are made by the million, so their origins are kept once for each place and process, and found by the address of the
program's code and how far it has come in it: 0.3 us, where a walk up the stack takes 1 us. What is kept of the requests
themselves is a number, of those that nobody has looked after yet: garbage or not, they need no room.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from fakempi.mpi.base.complain import public_call, site_of

Notes = dict[Any, "Origin"]
"""A process's origins of requests, by place."""


class Origin:
    """A call of the program's, its place, and how many requests that were made there have not been looked after."""

    __slots__ = ("call", "code", "open", "place")

    def __init__(self, call: str, frame: FrameType | None) -> None:
        self.call, self.place = call, site_of(frame)
        self.code = None if frame is None else frame.f_code  # which is known by its address, and so must stay
        self.open = 0

    def closed(self) -> Origin:
        """The same place, for what is to be known of a message whose request has been looked after."""
        other = object.__new__(Origin)
        other.call, other.place, other.code, other.open = self.call, self.place, self.code, 0
        return other


def here() -> Origin:
    """Where the program has called what runs now."""
    return Origin(*public_call(sys._getframe(1)))


def noted(notes: Notes) -> Origin:
    """The same for a request, where the program is further up than a quick look goes, or has come for the first time."""
    call, frame = public_call(sys._getframe(1))
    key = None if frame is None else (id(frame.f_code), frame.f_lasti)
    origin = notes.get(key)
    if origin is None:
        origin = notes[key] = Origin(call, frame)
    return origin
