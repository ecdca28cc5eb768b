"""A window: what all its ranks share (`Window`), and what one of them has of it (`Part`).

Nothing here is one per pair of ranks, but for those that have had to do with each other (`Part.lane`).
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from fakempi.mpi.base.complain import call_site, out_of_step
from fakempi.mpi.base.constants import WIN_FLAVOR_SHARED
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.waiting import Completion, Reason, wait_one
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NOTHING, Memory, address_of
from fakempi.mpi.windows.lane import Lane
from fakempi.mpi.windows.locks import TargetLock
from fakempi.mpi.windows.races import Accesses, Place
from fakempi.mpi.windows.stores import Stores


class Gathering(Reason):
    """The ranks that have come to a call which all of them make: a Fence, or Free."""

    __slots__ = ("came", "name", "number", "plan", "site", "waiting", "window", "words")

    def __init__(self, window: Window, plan: str, number: int, name: str) -> None:
        self.window, self.plan, self.number = window, plan, number
        self.site, self.name = call_site(), name  # of the first to come
        self.waiting: list[Part] = []
        self.words: tuple[str, tuple[int, ...]] | None = None  # for a report, which many ranks share

    def _missing(self) -> tuple[str, tuple[int, ...]]:
        if self.words is None:
            away = [part.process.number for part in self.window.parts if part.calls < self.number]
            who = self.window.context.universe.names.words(away, 6) if away else ""
            self.words = (f"waits for {who}" if away else "waits for what is on its way"), tuple(away)
        return self.words

    def in_words(self) -> str:
        """Who has not come."""
        return self._missing()[0]

    def awaits(self) -> tuple[int, ...]:
        """The same as numbers; the first will do."""
        return self._missing()[1][:1]


class Window:
    """What all ranks of a window share: who they are, each one's part, and the calls of all that are under way."""

    __slots__ = ("context", "flavor", "freed", "gatherings", "made", "members", "parts", "side")

    def __init__(self, context: Context, members: Members, flavor: int, parts: list[Part], made: tuple[str, str]) -> None:
        self.context, self.members, self.flavor, self.parts = context, members, flavor, parts
        self.made = made  # by which call, and where
        self.side = context.sides[0]
        self.gatherings: dict[int, Gathering] = {}
        self.freed = 0  # by how many ranks

    def bereave(self, number: int) -> None:
        """All know now that a process has died: what cannot be done without it ends with an error, everywhere."""
        rank = self.members.index(number)
        if rank is None:
            return
        dead = self.parts[rank]
        for gathering in self.gatherings.values():
            for part in gathering.waiting:  # also if the dead had come: whoever comes now is refused
                part.end_gathering()
        self.gatherings.clear()
        for part in self.parts:
            if part.window is not None and part is not dead:
                part.bereave(dead)
        for permit in dead.permits():
            permit.stretch.close()

    def is_freed(self) -> bool:
        """Whether all have freed it who live."""
        if self.context.trouble is None:
            return self.freed == len(self.parts)
        failed = self.context.trouble.failed
        return all(part.window is None or part.process.number in failed for part in self.parts)

    def tell_leak(self) -> None:
        """The run is over, and some have not freed it."""
        call, place = self.made
        for part in self.parts:
            if part.window is not None and part.process.number not in self.context.universe.dead:
                self.context.universe.found(
                    "window-leak", part.process.number, "it was never freed.", call=call, place=place
                )  # fmt: skip

    def arrive(self, part: Part, plan: str) -> Gathering:
        """A rank comes to the next call of all; whoever came to another one is told so."""
        part.calls = number = part.calls + 1
        gathering = self.gatherings.get(number)
        if gathering is None:
            gathering = self.gatherings[number] = Gathering(self, plan, number, part.process.name)
        elif gathering.plan != plan:
            part.calls -= 1
            raise out_of_step(plan, gathering.name, gathering.plan, gathering.site, "window")
        gathering.waiting.append(part)
        if len(gathering.waiting) == len(self.parts):
            del self.gatherings[number]
            for one in gathering.waiting:
                one.complete = True
                one.look()
        return gathering


class Part:
    """One rank's part of a window: its memory, the epochs it is in, and what it has put on the window.

    Operations of a fence's epoch are counted where they start and where they end, by whether the number of the fence
    before them is odd: a rank may be one fence ahead of another, never two.
    """

    __slots__ = (
        "__weakref__", "accesses", "attached", "attributes", "calls", "coming", "complete", "errhandler",
        "everywhere", "exposure", "fence", "fenced", "held", "info", "into", "keep", "lanes", "last", "leaving", "lock",
        "locks", "loop", "memory", "name", "out", "posts", "process", "rank", "recorder", "round", "started", "stores",
        "unit", "until", "used", "window", "wire",
    )  # fmt: skip

    window: Window | None

    def __init__(self, process: Process, rank: int, memory: Memory, unit: int, keep: Any) -> None:
        self.process, self.rank, self.memory, self.unit, self.keep = process, rank, memory, unit, keep
        self.loop, self.wire, self.out = process.loop, process.wire, process.out
        self.into = process.wire.into[process.number]
        self.recorder = process.universe.recorder
        self.window = None  # while it is being made, and when it was freed
        self.lanes: dict[int, Lane] | None = None
        self.held: list[tuple[int, Any]] = []  # by target: what operations use of this rank's memory, if that is watched
        self.attached: dict[int, Any] | None = None  # memory by its address, if the window is dynamic
        # What the program has put on it.
        self.name: str | None = None
        self.info: Info | None = None
        self.errhandler: Errhandler | None = None
        self.attributes: Any = None
        # Calls of all ranks, and what they wait for.
        self.calls = 0  # to how many it has come
        self.complete = False  # whether it waits in one to which all have come
        self.fence: Completion | None = None
        # The epochs that it is in.
        self.round = 0  # how many fences there have been
        self.fenced: Place | None = None  # where the fence was whose epoch may be used, if one may
        self.used = False  # whether it was
        self.leaving, self.coming = [0, 0], [0, 0]  # how many whose end is not known
        self.until: list[Any] = [0, 0]  # the latest end of those others
        self.locks: dict[int, Any] | None = None  # permits by target
        self.everywhere: Any = None  # the epoch of a Lock_all
        self.started: Any = None  # the epoch of a Start
        self.exposure: Any = None  # the epoch of a Post
        self.posts: dict[int, int] | None = None  # by target: of Posts that came before their Start
        self.last: dict[int | None, str] | None = None  # by target: how its last epoch ended, in words
        # As a target.
        self.lock: TargetLock | None = None
        self.accesses: Accesses | None = None
        self.stores: Stores | None = None  # if somebody looks at them

    def hold(self, target: int, operation: Any) -> Any:
        """An operation begins, and its buffers at the origin are in use until the program is told that it is over."""
        content = operation.content if operation.nbytes else None
        pin = self.process.pins.of_window(content, getattr(operation, "result", None))
        self.held.append((target, pin))
        return pin

    def give_back(self, target: int | None = None) -> None:
        """The program is told that operations on a target are over; or on all."""
        over = [pin for rank, pin in self.held if target in (None, rank)]
        self.held = [one for one in self.held if target not in (None, one[0])]
        for pin in over:
            pin.end()

    def let_go(self) -> None:
        """The window was freed: hold nothing more, or this were a circle that only the garbage collector can open."""
        self.give_back()
        self.window = self.lanes = self.lock = self.accesses = self.stores = self.keep = self.attached = None
        self.memory = NOTHING

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return self.memory.nbytes if self.memory is not None else 0

    @property
    def base(self) -> int:
        """Where the memory starts; 0 if there is none."""
        if isinstance(self.memory, Phantom) or self.memory is NOTHING or not len(self.memory):
            return 0
        return address_of(self.memory)

    def lane(self, target: int) -> Lane:
        """The way to another rank."""
        if self.lanes is None:
            self.lanes = {}
        found = self.lanes.get(target)
        if found is None:
            found = self.lanes[target] = self._new_lane(target)
        return found

    def _new_lane(self, target: int) -> Lane:
        assert self.window is not None
        return Lane(self, self.window.parts[target], self.window.side.box(target))

    def watch(self) -> None:
        """From now on look at what this rank itself writes to its memory, unless others may do the same."""
        assert self.window is not None
        if self.window.flavor != WIN_FLAVOR_SHARED and self.attached is None and type(self.memory) is ndarray and self.size:
            self.stores = Stores(self)

    def target_lock(self) -> TargetLock:
        """The lock that others ask for."""
        if self.lock is None:
            self.lock = TargetLock(self)
        return self.lock

    # -- calls of all ranks -------------------------------------------------------------------------------------------

    def gather(self, plan: str) -> None:
        """Come to a call of all ranks, and wait until all have come and what is awaited here has ended."""
        assert self.window is not None
        self.check_all()
        if self.process.pins is not None:
            self.process.pins.gathered += 1
        self.fence = waits = Completion()
        try:
            waits.why = self.window.arrive(self, plan)
        except BaseException:
            self.fence = None
            raise
        wait_one(self.loop, waits)
        if waits.error is not None:
            raise waits.error.complaint()

    # -- ranks that have died -----------------------------------------------------------------------------------------

    def failure(self, other: Part) -> Any:
        """Why this rank cannot deal with another one; None if it can."""
        trouble = self.window.context.trouble  # type: ignore[union-attr]
        return None if trouble is None else trouble.failure(self.process.number, other.process.number, False)

    def check_all(self) -> None:
        """Complain if all are to do something together of whom some have died."""
        trouble = self.window.context.trouble  # type: ignore[union-attr]
        if trouble is not None:
            trouble.check(self.process.number, None, True)

    def end_gathering(self) -> None:
        """The call of all to which this rank has come cannot end."""
        fence, self.fence = self.fence, None
        assert fence is not None
        assert self.window is not None
        fence.error = self.window.context.trouble.failure(self.process.number, None, True)
        fence.complete(self.loop.now)

    def permits(self) -> list[Any]:
        """All that this rank has."""
        epochs = (self.locks, *(one.permits for one in (self.everywhere, self.started) if one is not None))
        return [permit for permits in epochs if permits for permit in permits.values()]

    def bereave(self, dead: Part) -> None:
        """This rank learns that another has died."""
        for permit in self.permits():
            if permit.lane.there is dead:
                permit.fail(dead)
        if self.exposure is not None and dead.rank in self.exposure.missing:
            self.exposure.fail(dead)
        if self.lock is not None:
            self.lock.bereave(dead.rank)

    def look(self) -> None:
        """Go on from a call of all ranks, if all have come and nothing of the epoch is under way."""
        before = self.round & 1
        if not self.leaving[before] and not self.coming[before]:
            self.complete = False
            fence, self.fence = self.fence, None
            now, until = self.loop.now, self.until[before]
            fence.complete(until if until > now else now)  # type: ignore[union-attr]

    def ended(self, target: int | None, words: str) -> None:
        """Remember how an epoch ended, for whoever is outside of one later."""
        if self.last is None:
            self.last = {}
        self.last[target] = words
