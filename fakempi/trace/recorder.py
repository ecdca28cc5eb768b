"""The recorder: watches a run and packs what it sees into rows of numbers. No object is kept for an event.

It comes between a communicator and the wire (`watch`), so a run that is not traced pays nothing for it. Per message it
costs one packed row, one look at the stack on either side (one for both in a Sendrecv, none in a collective call), and, if
the message came before its receive, a patch of the row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from fakempi.trace.columns import COMPUTES, NEVER, REGIONS, TRANSFERS


class Watcher(NamedTuple):
    """What the wire calls; `fakempi.wire.delivery` says when."""

    posted: Callable[[Any], None]
    started: Callable[[Any, Any, float, float, float], None]
    started_at_once: Callable[[Any, Any, float, float], None]
    met: Callable[[Any, Any], None]


NOWHERE = (-1, 0)
"""Neither in a region nor in the call of a collective."""


class Interned:
    """Things that are kept once and meant by their number; number 0 is what is not known."""

    def __init__(self, unknown: Any) -> None:
        self.things = [unknown]
        self._numbers = {unknown: 0}

    def number(self, thing: Any) -> int:
        """The number of a thing, new or old."""
        found = self._numbers.get(thing)
        if found is None:
            found = self._numbers[thing] = len(self.things)
            self.things.append(thing)
        return found


class Recorder:
    """Collects transfers, intervals of computing, and regions, while a run goes on.

    `clock` has the time (`now`) and the `running` task. `is_ours(frame)` says whether a frame of the stack is fakempi's or a
    collective algorithm's, and not the program's.
    """

    def __init__(self, clock: Any, is_ours: Callable[[FrameType], bool]) -> None:
        self.clock, self.is_ours = clock, is_ours
        self.transfers, self.computes, self.regions = bytearray(), bytearray(), bytearray()
        self.calls = Interned(("?", "?", 0))
        self.names = Interned("")
        self._known: dict[int, bool] = {}  # by code: is it ours?
        self._sites: dict[int, tuple[Any, int]] = {}  # by how far into its code the program is: the last such call
        self._hops: dict[int, int] = {}  # by code of ours: how far from the program it was called
        self._kept: list[Any] = []
        self._inside: dict[Any, tuple[int, int]] = {}  # by task: its innermost region, and the call that it is, or 0
        self._of_parts: set[int] = set()  # regions that are open, by where they are, and go by their parts' algorithm

    # -- at the wire ----------------------------------------------------------------------------------------------

    def watch(self, wire: Any) -> None:
        """See all that goes into the wire from now on, and starts to travel there."""
        expect, join = wire.expect, wire.join
        clock, inside, locate, sites, frame_at = self.clock, self._inside, self._locate, self._sites, sys._getframe
        rows, pack = self.transfers, TRANSFERS.pack
        patch, offset = TRANSFERS.patch("awaited", "receive_call")
        depth = 3 + wire.calls_to_send

        def posted(envelope: Any) -> None:
            region, call = inside.get(clock.running, NOWHERE) if inside else NOWHERE
            call = call or envelope.call
            if not call:
                frame = frame_at(depth)
                site = sites.get(frame.f_lasti)
                call = site[1] if site is not None and site[0] is frame.f_code else locate(frame, depth + 1)
            envelope.posted, envelope.region, envelope.call = clock.now, region, call

        def started(envelope: Any, pattern: Any, start: float, sent: float, arrived: float) -> None:
            nonlocal rows
            box = envelope.box
            time, call, region = envelope.posted, envelope.call, envelope.region
            if pattern is None:
                awaited, receive_call = NEVER, 0
                envelope.posted, envelope.call = None, len(rows)  # where to put that when it is known
            else:
                awaited, receive_call = pattern.posted, pattern.call
            rows += pack(
                time, start, sent, arrived, awaited, receive_call, call, envelope.nbytes,
                envelope.out.number, box.owner, envelope.tag, box.name.context.number, region,
            )  # fmt: skip

        def started_at_once(envelope: Any, pattern: Any, now: float, end: float) -> None:
            nonlocal rows
            region, call = -1, envelope.call
            if inside and clock.running in inside:
                region, around = inside[clock.running]
                call = call or around
            if not call:
                frame = frame_at(4)
                site = sites.get(frame.f_lasti)
                call = site[1] if site is not None and site[0] is frame.f_code else locate(frame, 5)
            box = envelope.box
            if pattern is None:
                envelope.posted, envelope.call = None, len(rows)
                rows += pack(
                    now, now, end, end, NEVER, 0, call, envelope.nbytes,
                    envelope.out.number, box.owner, envelope.tag, box.name.context.number, region,
                )  # fmt: skip
            else:
                rows += pack(
                    now, now, end, end, pattern.posted, pattern.call, call, envelope.nbytes,
                    envelope.out.number, box.owner, envelope.tag, box.name.context.number, region,
                )  # fmt: skip

        def watched_expect(pattern: Any) -> None:
            call = 0
            if inside and clock.running in inside:
                call = inside[clock.running][1]
            if not call:
                frame = frame_at(3)
                site = sites.get(frame.f_lasti)
                call = site[1] if site is not None and site[0] is frame.f_code else locate(frame, 4)
            pattern.call = call
            now = pattern.posted = clock.now
            expect(pattern)
            envelope = pattern.envelope
            if envelope is not None and envelope.posted is None:
                patch(rows, envelope.call + offset, now, call)

        def watched_join(envelope: Any, pattern: Any) -> None:
            if not hasattr(pattern, "posted"):  # what a probe found, and is now received
                pattern.posted, pattern.call = clock.now, self.call()
            join(envelope, pattern)
            met(envelope, pattern)

        def met(envelope: Any, pattern: Any) -> None:
            if envelope.posted is None:
                patch(rows, envelope.call + offset, pattern.posted, pattern.call)

        wire.expect, wire.join = watched_expect, watched_join
        wire.watcher = Watcher(posted, started, started_at_once, met)

    def call(self) -> int:
        """The number of the call that the program has made: its name, and the file and line."""
        return self._find(sys._getframe(1), 0)

    def here(self) -> tuple[int, int]:
        """The region in which the running task is, and the call."""
        region, call = self._inside.get(self.clock.running, NOWHERE)
        return region, call or self._find(sys._getframe(1), 0)

    def _locate(self, frame: Any, depth: int) -> int:
        """The call in which the caller is, from a frame that is so deep below this one and may not be the program's.

        An algorithm is mostly called as far from the program as it was the last time, which saves looking at what is in
        between. Code is known by its address: to hash it takes longer than all the rest.
        """
        hops = self._hops.get(id(frame.f_code))
        if hops:
            try:
                there = sys._getframe(depth + hops)
            except ValueError:  # the stack is not that deep this time
                return self._find(sys._getframe(depth - 1), -1)
            site = self._sites.get(there.f_lasti)
            if site is not None and site[0] is there.f_code:
                return site[1]
        return self._find(sys._getframe(depth - 1), -1)

    def _find(self, frame: Any, hops: int) -> int:
        """The call that a frame is part of; from the frame that `hops` calls above it one may jump next time."""
        known, callee = self._known, None
        jump = 0
        while frame is not None:
            code = frame.f_code
            ours = known.get(id(code))
            if ours is None:
                self._kept.append(code)  # so that no other gets its address
                ours = known[id(code)] = self.is_ours(frame)
            if hops == 0:
                jump = id(code)
            if not ours:
                name = "?" if callee is None else callee.co_name
                found = self.calls.number((name, code.co_filename, frame.f_lineno))
                self._sites[frame.f_lasti] = (code, found)
                if hops > 0:
                    self._hops[jump] = hops
                return found
            callee = code
            frame = frame.f_back
            hops += 1
        return 0

    # -- what else a rank does ------------------------------------------------------------------------------------

    def computed(self, rank: int, start: float, end: float) -> None:
        """A rank computes from one time to another."""
        inside = self._inside.get(self.clock.running)
        call = inside[1] if inside else 0
        self.computes += COMPUTES.pack(start, end, rank, call or self.call())

    def enter(
        self,
        rank: int,
        name: str,
        *,
        algorithm: str = "",
        call: int = 0,
        lane: int = 0,
        context: int = 0,
        number: int = 0,
        root: int = -1,
        nbytes: int = 0,
        of_parts: bool = False,
    ) -> tuple[int, Any]:
        """From now on what the running task does belongs together; a collective is its `call`, and so are its messages.

        One that is made `of_parts` is by the algorithm that the last of them is by. Returns what to `leave` with.
        """
        task = self.clock.running
        before = self._inside.get(task)
        row = len(self.regions)
        if of_parts:
            self._of_parts.add(row)
        elif before is not None and (around := before[0] * REGIONS.size) in self._of_parts:
            patch, offset = _ALGORITHM
            patch(self.regions, around + offset, self.names.number(algorithm))
        self.regions += REGIONS.pack(
            self.clock.now, NEVER, nbytes, rank, self.names.number(name), self.names.number(algorithm), call, lane,
            -1 if before is None else before[0], context, number, root,
        )  # fmt: skip
        self._inside[task] = (row // REGIONS.size, call or (before[1] if before else 0))
        return row, before

    def leave(self, row: int, before: Any) -> None:
        """The region that the running task has entered last ends now."""
        if before is None:
            del self._inside[self.clock.running]
        else:
            self._inside[self.clock.running] = before
        self._of_parts.discard(row)
        patch, offset = _END
        patch(self.regions, row + offset, self.clock.now)


_END, _ALGORITHM = REGIONS.patch("end"), REGIONS.patch("algorithm")
