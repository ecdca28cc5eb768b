"""The deadlock report: who is stuck in which call, where, since when, in what circle, and what nearly fitted.

It is made from records (`Stuck`, `Want`, `NearMiss`), not from a running emulator, so it can be tested without one. Ranks
in the same state share a line, whether they wait for the same rank (`source=0`) or for a neighbour (`source=rank-1`), so
that the report of 4,096 ranks is as short as that of two. In the records a process is its number, which in the world that
was started is its rank; `Names` puts it into words.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from fakempi.checks.ranks import Names
from fakempi.errors import DeadlockError, LivelockError

LINES = 16
"""Most lines in any part of a report."""


@dataclass(frozen=True)
class Want:
    """One thing that a rank waits for: a message to come or to go, other ranks to come to a call, or something else."""

    kind: str  # "receive", "send", "meeting", "other"
    peer: int | None = None  # as the program names it; None is any
    tag: int | None = None
    nbytes: int = 0
    size: int = 0  # of the communicator, for neighbours modulo size
    where: str = ""  # which communicator, unless it is the world; of something else, what that is
    awaits: tuple[int, ...] = ()  # numbers of processes, any of which may help if `peer` is None


@dataclass(frozen=True)
class Stuck:
    """A process, the call it is in, where in the program, since when, and what it waits for."""

    rank: int  # its number: the rank in the world that was started
    call: str
    site: str
    since: float
    wants: tuple[Want, ...]
    any_helps: bool = False  # one of the wants would do
    polls: bool = False  # it does not wait for them, but looks again and again
    thread: str = ""  # which of the process's threads it is, if not the process itself


@dataclass(frozen=True)
class NearMiss:
    """A message that a stuck rank would have received but for one thing."""

    rank: int
    sender: int
    tag: int
    but: str


@dataclass(frozen=True)
class Unreceived:
    """A message that lies in a mailbox and that nobody waits for, neither its sender nor its receiver."""

    sender: int
    receiver: int
    tag: int
    nbytes: int
    where: str


def report(
    stuck: Sequence[Stuck],
    nprocs: int,
    time: float,
    misses: Sequence[NearMiss] = (),
    unreceived: Sequence[Unreceived] = (),
    polling: bool = False,
    names: Names | None = None,
    rounds: int = 0,
) -> DeadlockError:
    """The error to raise: a text for people, and the records for programs.

    If ranks poll and it is not known that they go round in a circle, `rounds` is how often each has looked in vain.
    """
    words = Words(names or Names())
    verdict, kind = ("livelock", LivelockError) if polling else ("deadlock", DeadlockError)
    count = len({one.rank for one in stuck})
    s = "s" if count == 1 else ""
    what = f"poll{s} in vain or wait{s}" if polling else f"wait{s}"
    known = f": {rounds:,} polls in a row found nothing, and nobody else can do anything" if rounds else ""
    known = known or ", and nothing else can happen"
    lines = [f"{verdict} at t = {float(time):.6g} s: {count} of {nprocs} ranks {what}{known}."]
    lines += _shortened([f"  {line}" for line in words.states(stuck)], "more states")
    cycle = find_cycle(stuck)
    if cycle:
        lines.append(f"  cycle: {words.cycle(cycle)}")
    lines += _shortened([f"  near miss: {line}" for line in words.misses(misses)], "more near misses")
    lines += _shortened([f"  never received: {line}" for line in words.unreceived(unreceived)], "more kinds")
    return kind("\n".join(lines), stuck, cycle, time, misses)


def places_in_words(waiting: Sequence[Stuck], running: Sequence[Stuck], unstarted: Sequence[int], names: Names) -> list[str]:
    """Where ranks are while a run goes on, a line for each state: who runs, who waits, who has not begun."""
    lines = [f"{names.words([one.rank])}{_of_thread(one)}: runs at {one.site}" for one in running]
    away = {one.rank for one in running} | set(unstarted)
    lines += _shortened(Words(names).states(waiting, away), "more states")
    if unstarted:
        lines.append(f"{names.words(unstarted)}: not begun")
    return lines


def _of_thread(one: Stuck) -> str:
    return f", thread {one.thread!r}" if one.thread else ""


class Words:
    """The parts of a report in words. Ranks may share a record and its long list, so that is put into words once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.crowds: dict[int, str] = {}  # by the want's identity

    def states(self, stuck: Sequence[Stuck], others: Set[int] = frozenset()) -> list[str]:
        """One line for each state that ranks are in, whichever way of naming peers needs fewer lines; `others` live too."""
        alive = {one.rank for one in stuck} | others
        same = self._fold(stuck, _absolute)
        near = self._fold(stuck, _relative)
        naming, groups = (_relative, near) if len(same) > 4 and len(near) < len(same) else (_absolute, same)
        lines = []
        for group in groups:
            first = group[0]
            since = {one.since for one in group}
            when = f"since t = {float(min(since)):.6g}" + (f" to {float(max(since)):.6g}" if len(since) > 1 else "")
            wants = {id(want): want for one in group for want in one.wants}.values()
            gone = {rank for want in wants for rank in want.awaits} - alive
            ended = f"; {self.names.words(gone)} {'has' if len(gone) == 1 else 'have'} ended" if gone else ""
            who = self.names.words(one.rank for one in group) + _of_thread(first)
            lines.append(f"{who}: {self._call(first, naming)} at {first.site}, {when}{ended}")
        return lines

    def cycle(self, cycle: Sequence[int]) -> str:
        """`0 → 3 → 1 → 0`, with the middle left out if it is long."""
        ranks = [self.names.short(number) for number in cycle]
        if len(ranks) > 8:
            return " → ".join([*ranks[:4], "…", *ranks[-2:], ranks[0]]) + f" ({len(ranks)} ranks)"
        return " → ".join([*ranks, ranks[0]])

    def misses(self, misses: Sequence[NearMiss]) -> list[str]:
        """Misses for the same reason share a line."""
        kinds: dict[Hashable, list[NearMiss]] = {}
        for miss in misses:
            kinds.setdefault((miss.tag, miss.but), []).append(miss)
        lines = []
        for kind in kinds.values():
            ranks = {miss.rank for miss in kind}
            has = "has a message" if len(kind) == 1 else "has messages" if len(ranks) == 1 else "have messages"
            senders = self.names.words((miss.sender for miss in kind), 6)
            lines.append(f"{self.names.words(ranks, 6)} {has} from {senders} with tag {kind[0].tag}, {kind[0].but}")
        return lines

    def unreceived(self, messages: Sequence[Unreceived]) -> list[str]:
        """Messages that differ only in who sent them to whom share a line."""
        kinds: dict[Hashable, list[Unreceived]] = {}
        for message in messages:
            kinds.setdefault((message.tag, message.nbytes, message.where), []).append(message)
        lines = []
        for kind in kinds.values():
            count = "a message" if len(kind) == 1 else f"{len(kind)} messages"
            senders = self.names.words((message.sender for message in kind), 6)
            receivers = self.names.words((message.receiver for message in kind), 6)
            lines.append(f"{count} from {senders} to {receivers}, tag {kind[0].tag}, {kind[0].nbytes} bytes{kind[0].where}")
        return lines

    def _fold(self, stuck: Sequence[Stuck], naming: Callable[[int, Want], str]) -> list[list[Stuck]]:
        groups: dict[Hashable, list[Stuck]] = {}
        for one in stuck:
            groups.setdefault((one.site, one.thread, self._call(one, naming)), []).append(one)
        return list(groups.values())

    def _call(self, one: Stuck, naming: Callable[[int, Want], str]) -> str:
        """`Recv(source=0, tag=7)`; several wants are joined, and cut short."""
        rank = self.names.rank(one.rank)
        words = list(dict.fromkeys(self._want(rank, want, naming) for want in one.wants))
        if len(words) > 3:
            words = [*words[:3], f"and {len(words) - 3} more"]
        return f"{one.call}({(' or ' if one.any_helps else '; ').join(words)})"

    def _want(self, rank: int, want: Want, naming: Callable[[int, Want], str]) -> str:
        if want.kind == "other":
            return want.where
        if want.kind == "meeting":
            if id(want) not in self.crowds:
                self.crowds[id(want)] = self.names.words(want.awaits, 6)
            return f"waits for {self.crowds[id(want)]}{want.where}"
        tag = "ANY" if want.tag is None else want.tag
        if want.kind == "receive":
            return f"source={naming(rank, want)}, tag={tag}{want.where}"
        return f"dest={naming(rank, want)}, tag={tag}, {want.nbytes} bytes{want.where}"


def _absolute(rank: int, want: Want) -> str:
    return "ANY" if want.peer is None else str(want.peer)


def _relative(rank: int, want: Want) -> str:
    if want.peer is None:
        return "ANY"
    step = (want.peer - rank) % want.size if want.size else want.peer - rank
    if want.size and step > want.size // 2:
        step -= want.size
    return f"rank{step:+d}" if step else "rank"


def _shortened(lines: list[str], rest: str) -> list[str]:
    if len(lines) <= LINES:
        return lines
    return [*lines[: LINES - 1], f"  ... and {len(lines) - LINES + 1} {rest}"]


def find_cycle(stuck: Sequence[Stuck]) -> list[int]:
    """Ranks each of which waits for the next, and the last for the first; empty if there are none such.

    Only waits for one certain rank count: who waits for any of several may be helped from outside the circle, and who polls
    may look for something else next time.
    """
    stuck_ranks = {one.rank for one in stuck}
    waits: dict[int, list[int]] = {}
    for one in stuck:
        if not (one.any_helps or one.polls):
            waits.setdefault(one.rank, []).extend(_certain(one, stuck_ranks))  # of all its threads
    done: set[int] = set()
    for start in waits:
        path: dict[int, int] = {}  # rank -> its place on the way from the start
        ahead = [[start]]  # ranks to look at, for the start and for each rank on the path
        while ahead:
            rank = ahead[-1].pop() if ahead[-1] else None
            if rank is None:
                ahead.pop()
                if path:
                    done.add(path.popitem()[0])
            elif rank in path:
                return list(path)[path[rank] :]
            elif rank in waits and rank not in done:
                path[rank] = len(path)
                ahead.append(waits[rank][::-1])
    return []


def _certain(one: Stuck, stuck_ranks: set[int]) -> list[int]:
    """Stuck ranks without which this one cannot go on; of many that are missing from a call, the first will do."""
    found: set[int] = set()
    for want in one.wants:
        if want.kind == "meeting":
            found.update(islice((rank for rank in want.awaits if rank in stuck_ranks), 1))
        elif len(want.awaits) == 1:
            found.add(want.awaits[0])
    return sorted(found)
