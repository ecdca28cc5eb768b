"""The deadlock report: blocked ranks with their calls, lines and times, the cycle of waits, and near misses.

It is composed from records (`BlockedRank`, `AwaitedEvent`, `NearMiss`), so it can be tested without a run. Ranks in the same
state share a line, if they wait for the same rank (`source=0`) or for a neighbor at the same distance (`source=rank-1`), so
that the report of 4,096 ranks is as short as that of two. Records contain numbers of processes; for processes that were not
spawned these are their ranks. `Names` returns their names.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from fakempi.core.reports.ranks import Names
from fakempi.errors import DeadlockError, LivelockError
from fakempi.errors.plurals import counted
from fakempi.errors.records import AwaitedEvent, BlockedRank, NearMiss

LINES = 16
"""The maximum number of lines in each part of a report."""


@dataclass(frozen=True)
class Unreceived:
    """A message in a mailbox that no rank waits for: its sender has continued, and no receive matches."""

    sender: int
    receiver: int
    tag: int
    nbytes: int
    where: str


def report(
    blocked: Sequence[BlockedRank],
    nprocs: int,
    time: float,
    misses: Sequence[NearMiss] = (),
    unreceived: Sequence[Unreceived] = (),
    polling: bool = False,
    names: Names | None = None,
    rounds: int = 0,
    remarks: Sequence[str] = (),
) -> DeadlockError:
    """Return the error to raise, with the report and the records.

    If ranks poll, and it is not proved that they repeat a state, `rounds` is the number of unsuccessful polls of each. Each
    of the `remarks` is a line.
    """
    parts = ReportText(names or Names())
    verdict, kind = ("livelock", LivelockError) if polling else ("deadlock", DeadlockError)
    headline = _headline(len({record.rank for record in blocked}), nprocs, polling, rounds)
    lines = [f"{verdict} at t = {float(time):.6g} s: {headline}."]
    lines += _shortened([f"  {line}" for line in parts.states(blocked)], "more states")
    cycle = find_cycle(blocked)
    if cycle:
        lines.append(f"  cycle: {parts.cycle(cycle)}")
    lines += _shortened([f"  near miss: {line}" for line in parts.misses(misses)], "more near misses")
    lines += _shortened([f"  {line}" for line in remarks], "more remarks")
    lines += _shortened([f"  never received: {line}" for line in parts.unreceived(unreceived)], "more kinds")
    return kind("\n".join(lines), blocked, cycle, time, misses)


def _headline(count: int, nprocs: int, polling: bool, rounds: int) -> str:
    single = count == 1
    ranks = "the only rank" if nprocs == 1 else f"{count} of {nprocs} ranks"
    blocked = "is blocked" if single else "are blocked"
    if not polling:
        return f"{ranks} {blocked}, and nothing can wake {'it' if single else 'them'}"
    poll = f"{ranks} {'polls' if single else 'poll'} without success or {blocked}"
    if rounds:
        return f"{poll}: {rounds:,} polls in a row found nothing, and no other rank can run"
    return f"{poll}, and nothing can change that"


def positions(
    waiting: Sequence[BlockedRank], running: Sequence[BlockedRank], unstarted: Sequence[int], names: Names
) -> list[str]:
    """Return the positions of ranks during a run, one line for each state: running, waiting, not started."""
    lines = [f"{names.text([record.rank])}{_of_thread(record)}: {_activity(record)}" for record in running]
    alive = {record.rank for record in running} | set(unstarted)
    lines += _shortened(ReportText(names).states(waiting, alive), "more states")
    if unstarted:
        lines.append(f"{names.text(unstarted)}: not started")
    return lines


def blocked_lines(blocked: Sequence[BlockedRank], unfinished: Set[int], names: Names) -> list[str]:
    """Return one line for each state of blocked ranks; all ranks outside these two groups have ended."""
    return _shortened(ReportText(names).states(blocked, unfinished), "more states")


def _activity(record: BlockedRank) -> str:
    """Return what a running rank does; the line of a process is unknown until it has called MPI."""
    return {"?": "runs", "?:0": "runs, and has not called MPI yet"}.get(record.place, f"runs at {record.place}")


def _of_thread(record: BlockedRank) -> str:
    return f", thread {record.thread!r}" if record.thread else ""


class ReportText:
    """The parts of a report as text. Ranks may share a record with a long list of ranks, whose text is composed once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.missing: dict[int, str] = {}  # id of an `AwaitedEvent` -> the ranks that it waits for, as text

    def states(self, blocked: Sequence[BlockedRank], others: Set[int] = frozenset()) -> list[str]:
        """Return one line per state, with the naming of peers that needs fewer lines; `others` have not ended, either."""
        alive = {record.rank for record in blocked} | others
        same = self._fold(blocked, _absolute)
        near = self._fold(blocked, _relative)
        naming, groups = (_relative, near) if len(same) > 4 and len(near) < len(same) else (_absolute, same)
        lines = []
        for group in groups:
            first = group[0]
            since = {record.since for record in group}
            when = f"since t = {float(min(since)):.6g}" + (f" to {float(max(since)):.6g}" if len(since) > 1 else "")
            events = {id(event): event for record in group for event in record.events}.values()
            ended_ranks = {rank for event in events for rank in event.awaits} - alive
            ended = (
                f"; {self.names.text(ended_ranks)} {'has' if len(ended_ranks) == 1 else 'have'} ended" if ended_ranks else ""
            )
            ranks = self.names.text(record.rank for record in group) + _of_thread(first)
            lines.append(f"{ranks}: {self._call(first, naming)} at {first.place}, {when}{ended}")
        return lines

    def cycle(self, cycle: Sequence[int]) -> str:
        """Return `0 → 3 → 1 → 0`, without the middle if it is long."""
        ranks = [self.names.short(number) for number in cycle]
        if len(ranks) > 8:
            return " → ".join([*ranks[:4], "…", *ranks[-2:], ranks[0]]) + f" ({len(ranks)} ranks)"
        return " → ".join([*ranks, ranks[0]])

    def misses(self, misses: Sequence[NearMiss]) -> list[str]:
        """Return one line for all near misses with the same reason."""
        kinds: dict[Hashable, list[NearMiss]] = {}
        for miss in misses:
            kinds.setdefault((miss.tag, miss.difference), []).append(miss)
        lines = []
        for kind in kinds.values():
            ranks = {miss.rank for miss in kind}
            has = "has a message" if len(kind) == 1 else "has messages" if len(ranks) == 1 else "have messages"
            senders = self.names.text((miss.sender for miss in kind), 6)
            lines.append(f"{self.names.text(ranks, 6)} {has} from {senders} with tag {kind[0].tag}, {kind[0].difference}")
        return lines

    def unreceived(self, messages: Sequence[Unreceived]) -> list[str]:
        """Return one line for all messages that differ only in sender and receiver."""
        kinds: dict[Hashable, list[Unreceived]] = {}
        for message in messages:
            kinds.setdefault((message.tag, message.nbytes, message.where), []).append(message)
        lines = []
        for kind in kinds.values():
            count = "a message" if len(kind) == 1 else f"{len(kind)} messages"
            senders = self.names.text((message.sender for message in kind), 6)
            receivers = self.names.text((message.receiver for message in kind), 6)
            size = counted(kind[0].nbytes, "byte")
            lines.append(f"{count} from {senders} to {receivers}, tag {kind[0].tag}, {size}{kind[0].where}")
        return lines

    def _fold(self, blocked: Sequence[BlockedRank], naming: Callable[[int, AwaitedEvent], str]) -> list[list[BlockedRank]]:
        groups: dict[Hashable, list[BlockedRank]] = {}
        for record in blocked:
            groups.setdefault((record.place, record.thread, self._call(record, naming)), []).append(record)
        return list(groups.values())

    def _call(self, record: BlockedRank, naming: Callable[[int, AwaitedEvent], str]) -> str:
        """Return the call: `Recv(source=0, tag=7)`; of several events, three. A watched rank has other text, too."""
        if not record.events and not record.call.replace(".", "").isidentifier():
            return record.call
        rank = self.names.rank(record.rank)
        events = list(dict.fromkeys(self._event_text(rank, event, naming) for event in record.events))
        if len(events) > 3:
            events = [*events[:3], f"and {len(events) - 3} more"]
        return f"{record.call}({(' or ' if record.any_suffices else '; ').join(events)})"

    def _event_text(self, rank: int, event: AwaitedEvent, naming: Callable[[int, AwaitedEvent], str]) -> str:
        if event.kind == "other":
            return event.where
        if event.kind == "collective":
            if id(event) not in self.missing:
                self.missing[id(event)] = self.names.text(event.awaits, 6)
            return f"waits for {self.missing[id(event)]}{event.where}"
        peer = _written(event.peer_written, naming(rank, event))
        tag = _written(event.tag_written, "ANY" if event.tag is None else str(event.tag))
        if event.kind == "receive":
            return f"source={peer}, tag={tag}{event.where}"
        return f"dest={peer}, tag={tag}, {counted(event.nbytes, 'byte')}{event.where}"


def _written(expression: str, value: str) -> str:
    """Return an argument as the program has it, with its value: `right (3)`."""
    return f"{expression} ({value})" if expression and expression.replace(" ", "") != value else value


def _absolute(rank: int, event: AwaitedEvent) -> str:
    return "ANY" if event.peer is None else str(event.peer)


def _relative(rank: int, event: AwaitedEvent) -> str:
    if event.peer is None:
        return "ANY"
    step = (event.peer - rank) % event.size if event.size else event.peer - rank
    if event.size and step > event.size // 2:
        step -= event.size
    return f"rank{step:+d}" if step else "rank"


def _shortened(lines: list[str], rest: str) -> list[str]:
    if len(lines) <= LINES:
        return lines
    return [*lines[: LINES - 1], f"  ... and {len(lines) - LINES + 1} {rest}"]


def find_cycle(blocked: Sequence[BlockedRank]) -> list[int]:
    """Return ranks each of which waits for the next, and the last for the first; empty if there is no cycle.

    Only waits for one particular rank count: a rank that waits for any of several may be woken from outside the cycle, and a
    rank that polls may poll for something else next time.
    """
    blocked_ranks = {record.rank for record in blocked}
    waits: dict[int, list[int]] = {}
    for record in blocked:
        if not (record.any_suffices or record.polls):
            waits.setdefault(record.rank, []).extend(_certain(record, blocked_ranks))  # of all its threads
    done: set[int] = set()
    for start in waits:
        path: dict[int, int] = {}  # rank -> its position on the path from the start
        ahead = [[start]]  # ranks to visit next, for the start and for each rank on the path
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


def _certain(record: BlockedRank, blocked_ranks: set[int]) -> list[int]:
    """Return blocked ranks without which this one cannot continue; of the ranks missing from a call, only the first."""
    needed: set[int] = set()
    for event in record.events:
        if event.kind == "collective":
            needed.update(islice((rank for rank in event.awaits if rank in blocked_ranks), 1))
        elif len(event.awaits) == 1:
            needed.add(event.awaits[0])
    return sorted(needed)
