"""Where ranks wait until all have come to the same collective call, which is then carried out on paper.

Who comes takes its place and nothing is charged to it. When the last one has come, the ends of all are known, and all are
booked for these. Nothing may come between that the waiting ranks' messages could have met: if any rank does anything but
compute, wait for what has a known end, or come to the same call, all goes back to the moment at which the first one came
(`Snapshot`) and the call is carried out message by message. The same if the paper does not say what happens (`Unclear`), and
if somebody never comes. Back then nobody had sent anything, so nothing of it shows.

The doors of the loop and the wire are watched only while somebody waits here; a run without collectives pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_OTHER
from fakempi.kernel.agenda import Agenda, Time
from fakempi.kernel.loop import Loop
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.meeting import Meeting
from fakempi.mpi.base.waiting import Completion
from fakempi.paper.agenda import Snapshot
from fakempi.paper.clocks import Costs, Outcome, Unclear, carried_out
from fakempi.paper.contents import Deliver, are_hollow, keep, why_not_combined
from fakempi.paper.events import played_out
from fakempi.paper.sheets import Sheet, Size, sheet_of
from fakempi.wire.express import Express

LOOP_DOORS = ("wait", "defer", "poll", "spawn", "book")
FEWEST = 4
"""Ranks from which on it is worth while: on fewer, their messages take less time than a page."""

BACK_OFF = 63
"""The most calls that are not tried on paper after several in a row for which that was in vain: each such try takes time."""

WIRE_DOORS = ("send", "expect", "join", "carry", "at_once", "clear_at")


class Page:
    """One call: who has come, when, in which order, and with what."""

    __slots__ = ("came", "deliver", "missing", "op", "reason", "sheet", "side", "snapshot", "why_not")

    def __init__(self, side: Any, sheet: Sheet, op: Any, snapshot: Snapshot) -> None:
        self.side, self.sheet, self.op, self.snapshot = side, sheet, op, snapshot
        self.came: list[tuple[int, Time, Any, Any]] = []  # in the order of coming: rank, clock, task, buffers
        self.missing = len(side.members)
        self.reason = Completion(_Coming(self))  # of those who wait, for whoever asks
        self.deliver: Deliver | None = None  # once it has been carried out on paper
        self.why_not = ""  # or why it is not


class _Coming(Meeting):
    """As reports see it: a meeting that some have not come to."""

    __slots__ = ("page",)

    def __init__(self, page: Page) -> None:
        self.page = page

    def missing(self) -> list[int]:
        """The numbers of the processes that have not come."""
        came = {each[0] for each in self.page.came}
        return [number for rank, number in enumerate(self.page.side.members) if rank not in came]


class Hall:
    """The hall of a run: one call at a time."""

    def __init__(self, universe: Any, always: bool) -> None:
        self.universe, self.loop, self.wire, self.always = universe, universe.loop, universe.wire, always
        self.page: Page | None = None
        self.deferred = False  # whether the running task has booked itself, and will wait for that
        self.why_never: str | None = None  # why nothing in this run can be on paper; None if nobody has looked
        self.sheets: dict[Any, Sheet | None] = {}
        self.untold = 0  # messages that the ports have not been told of
        self.standing: Standing | None = None  # of the ports, while calls on paper follow one another
        self.loop_doors = {name: self._watched(Loop, self.loop, name) for name in LOOP_DOORS[2:]}
        self.loop_doors.update(wait=self._wait, defer=self._defer)
        self.wire_doors = {name: self._watched(type(self.wire), self.wire, name) for name in WIRE_DOORS}

    def sheet(self, choice: Any, size: tuple[Any, ...]) -> Sheet | None:
        """What is known on paper of the algorithm that was chosen, for a call of that `Size`; None if nothing is."""
        if choice.parameters:
            return None
        key = choice.algorithm.run, size
        if key not in self.sheets:
            if len(self.sheets) >= 64:
                self.sheets.clear()
            self.sheets[key] = sheet_of(choice.algorithm.run, Size(*size))
        return self.sheets[key]

    def refuse(self, why: str) -> None:
        """Complain of a call that is not on paper, if all have to be."""
        if self.always:
            raise complaint(ERR_OTHER, f"all collective calls are to be on paper (paper='always'), but {why}.")

    def carry_out(self, comm: Any, entry: Any, sheet: Sheet, op: Any, arrays: tuple[Any, ...]) -> bool:
        """A rank comes to a call: True when that has been carried out, False if it has to be, message by message."""
        if entry.paper is None:
            entry.paper = self._page_for(comm, sheet, op, arrays)
        page: Any = entry.paper
        if page.__class__ is Page and not page.why_not:
            loop, rank = self.loop, comm._rank
            task = loop.running
            task.reason, task.since = page.reason, loop.now
            page.came.append((rank, loop.now, task, arrays))
            page.missing -= 1
            if page.missing:
                Loop.wait(loop)
            else:
                self._conclude(page)
            if page.deliver is not None:
                if arrays:
                    page.deliver(rank, arrays[1])
                return True
        self.refuse(page.why_not if page.__class__ is Page else page)
        return False

    def give_up(self, why: str = "not all ranks come to it") -> bool:
        """Go back to when the first rank came, if any waits here; the running rank's turn comes again."""
        page = self.page
        if page is None or self.loop.ending or self.universe.verdict is not None:
            return False
        self._close()
        page.why_not = why
        page.sheet.tries.fail(BACK_OFF)
        running = self.loop.running
        page.snapshot.put_back()
        if running is not None:
            Loop.wait(self.loop)
        return True

    # -- opening and closing --------------------------------------------------------------------------------------

    def _page_for(self, comm: Any, sheet: Sheet, op: Any, arrays: tuple[Any, ...]) -> Page | str:
        """A page for a call that this rank is the first to come to, or why there is none."""
        loop, universe, side = self.loop, self.universe, comm._side
        if loop.running is not comm._process.task:
            return "it is carried out in the background"
        if self.why_never is None:
            self.why_never = self._look()
        if self.why_never:
            return self.why_never
        if op is not None and (why := why_not_combined(op, arrays[1])):
            return why
        if not self.always:
            if len(side.members) < FEWEST:
                return "it has few ranks"
            if sheet.tries.leave_out():
                return "it was in vain before"
        if self.page is not None:
            self.give_up("another call comes between")  # in which nobody comes to this one: all are in that or behind
        if not len(side.members) == len(universe.processes) == len(loop.tasks):
            return "there are other tasks than the ranks of its communicator"
        if universe.dead:
            return "ranks have died"
        there = vars(self.wire)
        if vars(loop).keys() & self.loop_doors.keys() or any(there.get(n, d) is not d for n, d in self.wire_doors.items()):
            return "somebody else watches what ranks do, or ends the run"
        snapshot = Snapshot(loop)
        if not snapshot.is_quiet():
            return "other ranks wait for something, or messages are under way"
        self.page = Page(side, sheet, op, snapshot)
        vars(loop).update(self.loop_doors)
        vars(self.wire).update(self.wire_doors)  # which they keep until the ports are asked for
        return self.page

    def _look(self) -> str:
        """Why nothing in this run can be on paper; empty if it can."""
        universe, cost = self.universe, self.universe.cost
        if type(self.wire) is not Express or not all(type(one) is float for one in cost.linear) or cost.linear[0] <= 0:
            return "messages do not all take t_s + n t_w seconds, with t_s more than 0"
        if type(cost.compute_per_byte) not in (int, float):
            return "combining takes a time that is no float"
        watchers = {
            "memory in use is watched": universe.pins is not None,
            "choices are made": universe.choices is not None,
            "computing is measured": universe.computing,
            "ties are broken by a seed": self.loop.shuffle is not None,
        }
        return next((why for why, there in watchers.items() if there), "")

    def _close(self) -> None:
        """Nobody waits here any more."""
        if self.page is not None:
            self.page.reason.end = self.loop.now
        self.page = None
        _take_back(self.loop, self.loop_doors)

    def close_for_good(self) -> None:
        """Nothing is on paper any more: messages may have to be refused, of ranks that have died or know of it."""
        self.give_up("a communicator was revoked")
        self.settle()
        self.why_never = "ranks have died, or a communicator was revoked"

    def settle(self) -> None:
        """The ports are asked for: tell them what has gone through them."""
        _take_back(self.wire, self.wire_doors)
        if self.standing is not None:
            self.standing.settle()
            self.standing, self.untold = None, 0

    # -- the end --------------------------------------------------------------------------------------------------

    def _conclude(self, page: Page) -> None:
        """All have come: carry it out, and book everybody for its end."""
        loop, came = self.loop, page.came
        try:
            outcome = self._outcome(page)
            by_rank = sorted(came, key=_rank)
            arrays = [each[3] for each in by_rank]
            deliver = keep if are_hollow(arrays) else page.sheet.contents(arrays, page.op)
        except Unclear as error:
            self.give_up(str(error))
            return
        page.deliver = deliver
        page.sheet.tries.in_vain = 0
        self._close()
        assert self.standing is not None
        self.standing.add(outcome)
        self.untold += int(outcome.sent.sum())
        ends, tasks = outcome.ends.tolist(), [each[2] for each in by_rank]
        if outcome.ends.min() == outcome.ends.max():
            first, *others = outcome.order.tolist()
            loop.book(ends[0], tasks[first])
            loop.lists[ends[0]].extend([tasks[rank] for rank in others])
        else:
            for rank in outcome.order.tolist():
                loop.book(ends[rank], tasks[rank])
        page.came = []
        Loop.wait(loop)

    def _outcome(self, page: Page) -> Outcome:
        if self.standing is None or self.standing.side is not page.side:
            self.settle()
            vars(self.wire).update(self.wire_doors)
            self.standing = Standing(self.wire, page.side)
        ranks, clocks = np.array([each[0] for each in page.came]), [each[1] for each in page.came]
        if not set(map(type, clocks)) <= {int, float}:
            raise Unclear("clocks are no floats")
        starts = np.empty(len(ranks))
        starts[ranks] = clocks
        places = np.empty(len(ranks), np.int64)
        places[ranks] = np.arange(len(ranks))
        if self.standing.queued:
            raise Unclear("messages queue for ports")
        if (self.standing.out_free > starts).any():
            raise Unclear("a rank comes while it sends")
        (t_s, t_w), cost = self.universe.cost.linear, self.universe.cost
        costs = Costs(t_s, t_w, cost.compute_per_byte, self.universe.processes[0].eager_limit)
        sheet, into_free = page.sheet, self.standing.into_free
        try:
            return carried_out(sheet.rounds(), starts, places, into_free, costs, sheet.known)
        except Unclear:
            booked_since = {each[1] for each in page.came if each[2] in page.snapshot.booked}
            return played_out(sheet.rounds(), starts, places, into_free, costs, booked_since)

    # -- the doors, while somebody waits here ---------------------------------------------------------------------

    def _watched(self, kind: Any, thing: Any, name: str) -> Callable[..., Any]:
        """A door that something goes through which the waiting ranks' messages may have met."""
        inner = getattr(kind, name).__get__(thing)

        def door(*args: Any) -> Any:
            self.give_up("a rank does something else meanwhile")
            if thing is self.wire:
                self.settle()
            return inner(*args)

        return door

    def _wait(self) -> None:
        """A task waits: for what it has booked itself for, or for something that is not known."""
        if not self.deferred:
            self.give_up("a rank waits for something else meanwhile")
        self.deferred = False
        Loop.wait(self.loop)

    def _defer(self, at: Time) -> bool:
        """A task books itself for a later time."""
        loop, page = self.loop, self.page
        assert page is not None
        if loop.ending:
            return Loop.defer(loop, at)
        page.snapshot.note(loop.running, at)
        if loop.taken == len(loop.today) and loop.jump(at):
            return False
        Agenda.book(loop, at, loop.running)
        self.deferred = True
        return True


class Standing:
    """What has gone through the ports of a side's ranks, and when they are free, in arrays, until somebody asks those."""

    def __init__(self, wire: Any, side: Any) -> None:
        self.side = side
        self.ports = [wire.out[number] for number in side.members], [wire.into[number] for number in side.members]
        self.queued = any(port.queue for ports in self.ports for port in ports)
        self.out_free, self.into_free = (np.array([port.free_at for port in ports], float) for ports in self.ports)
        self.counts: list[Any] = [0, 0, 0, 0]

    def add(self, outcome: Outcome) -> None:
        """A call has been carried out."""
        self.out_free, self.into_free = outcome.out_free, outcome.into_free
        self.counts = [old + new for old, new in zip(self.counts, outcome[3:7], strict=True)]

    def settle(self) -> None:
        """Tell the ports."""
        if isinstance(self.counts[0], int):
            return  # nothing has been carried out
        sent, bytes_sent, received, bytes_received = (count.tolist() for count in self.counts)
        for i, (out, into) in enumerate(zip(*self.ports, strict=True)):
            out.free_at, into.free_at = float(self.out_free[i]), float(self.into_free[i])
            out.sent += sent[i]
            out.bytes_sent += bytes_sent[i]
            into.received += received[i]
            into.bytes_received += bytes_received[i]


_rank = itemgetter(0)


def _take_back(thing: Any, doors: dict[str, Any]) -> None:
    """Remove the doors that are still ours."""
    there = vars(thing)
    for name, door in doors.items():
        if there.get(name) is door:
            del there[name]
