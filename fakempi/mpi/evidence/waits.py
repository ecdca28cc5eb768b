"""Why a rank does not go on: what it waits for, read off its task and its stack, as records for a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from fakempi.checks.deadlock import NearMiss, Stuck, Unreceived, Want, places_in_words, report
from fakempi.errors import DeadlockError
from fakempi.kernel.task import Task
from fakempi.mpi.base.agreement import PREPARED, TAGS, absent
from fakempi.mpi.base.child import Child
from fakempi.mpi.base.complain import library_call, program_frame, public_call, site_of
from fakempi.mpi.base.context import Side
from fakempi.mpi.base.meeting import Meeting
from fakempi.mpi.base.process import Universe
from fakempi.mpi.base.waiting import AllOf, Awaited, Completion, Reason
from fakempi.mpi.comms.port import Visit
from fakempi.wire.envelope import Envelope, Pattern
from fakempi.wire.matching import Mailbox


def diagnose(universe: Universe) -> DeadlockError:
    """Nothing can run: say who waits for what, and what nearly fitted."""
    loop = universe.loop
    tasks = list(loop.tasks.values())
    frames = loop.carrier.frames(tasks)
    polling = set(loop.pollers)
    stuck = [_stuck(universe, task, frames.get(task), task in polling) for task in tasks if not _is_waited_for(task)]
    shown = [side for side in universe.sides if side.original is None]  # messages of ours interest nobody
    shown.sort(key=lambda side: (side.context.number, side.context.sides.index(side)))
    boxes = [box for side in shown for box in side.boxes if box is not None]
    return report(
        sorted(stuck, key=lambda one: one.rank),
        len(universe.processes),
        loop.now,
        list(_near_misses(tasks, boxes)),
        list(_unreceived(boxes)),
        polling=loop.starved,
        names=universe.names,
        rounds=universe.polled_in_vain,
    )


def whereabouts(universe: Universe, frame: Any = None) -> list[str]:
    """Where every rank is at this moment, in lines for people; `frame` is where the running one was interrupted."""
    loop = universe.loop
    tasks = [task for task in list(loop.tasks.values()) if not _is_waited_for(task)]
    runs = loop.running  # looked at once: who asks may be another thread, while it goes on
    running = [task for task in tasks if task is runs]
    if isinstance(runs, Task) and (found := loop.carrier.frames([runs]).get(runs)) is not None:
        frame = found  # on threads it is not the interrupted one
    waiting = [task for task in tasks if task.handle is not None and task not in running]
    frames = loop.carrier.frames(waiting)
    stuck = [_stuck(universe, task, frames.get(task), False) for task in waiting]
    stuck = [one if one.wants else replace(one, since=loop.now) for one in stuck]  # it is about to go on
    return places_in_words(
        sorted(stuck, key=lambda one: one.rank),
        [_stuck(universe, task, program_frame(frame), True) for task in running],
        [task.owner.number for task in tasks if task.handle is None],
        universe.names,
    )


def is_in_a_call(task: Task) -> bool:
    """Whether a task waits for something of MPI."""
    return any(not isinstance(one, Awaited) for one in _operations(task.reason))


def calls_in_words(universe: Universe, tasks: list[Task]) -> list[str]:
    """Those of the tasks that wait in an MPI call, a line for each state."""
    inside = [task for task in tasks if is_in_a_call(task)]
    frames = universe.loop.carrier.frames(inside)
    stuck = [_stuck(universe, task, frames.get(task), False) for task in inside]
    return places_in_words(stuck, [], [], universe.names)


def _stuck(universe: Universe, task: Any, frame: Any, polls: bool) -> Stuck:
    waits = isinstance(task.reason, Awaited) and task.reason.end is None
    call, program = library_call(frame) if waits else public_call(frame)
    site = site_of(program)
    if isinstance(task.body, Child):
        call, site = task.body.call, task.body.site
    thread = task.handle.name if task.owner.started(task) else ""
    wants = tuple(want for operation in _operations(task.reason) if (want := _want(universe, operation)) is not None)
    any_helps = isinstance(task.reason, tuple) and task.reason[:1] == ("any",)
    return Stuck(task.owner.number, call, site, universe.loop.now if polls else task.since, wants, any_helps, polls, thread)


def _operations(reason: Any) -> Iterator[Any]:
    """The operations that have not ended, out of whatever a task gave as its reason."""
    if isinstance(reason, tuple):
        for part in reason:
            yield from _operations(part)
    elif isinstance(reason, AllOf):
        yield from _operations(tuple(reason.operations))
    elif isinstance(reason, Completion) and isinstance(reason.why, Child) and reason.end is None:
        yield from _operations(reason.why.task.reason)
    elif reason is not None and getattr(reason, "end", None) is None and not isinstance(reason, str):
        yield reason


def _is_waited_for(task: Any) -> bool:
    """Whether it is a child task whose rank waits for it, and so says all that there is to say."""
    return isinstance(task.body, Child) and task.body.completion.waiter is not None


def _missing(universe: Universe, operation: Any) -> Want | None:
    """If a collective call or a meeting is waited for: who has not come. All who wait for the same share one record."""
    if isinstance(operation, Completion):
        meeting = operation.why
        if not isinstance(meeting, Meeting):
            return None
        key: Any = id(meeting)
        numbers = meeting.missing
    else:
        side: Side = operation.box.name
        if side.original is None:
            return None
        waits = side if isinstance(operation, Pattern) else other_side(side)  # a sender is on the other one
        here: Any = waits.original
        rank: Any = here.members.index(operation.box.owner if isinstance(operation, Pattern) else operation.out.number)
        key = (id(here), rank if operation.tag >= PREPARED else None, operation.tag % TAGS)

        def numbers() -> list[int]:
            return absent(here, rank, operation.tag)

    known: dict[Any, Want | None] = universe.reported
    if key not in known:
        away = tuple(numbers())
        known[key] = Want("meeting", awaits=away) if away else None
    return known[key]


def _want(universe: Universe, operation: Any) -> Want | None:
    if isinstance(operation, (Pattern, Envelope, Completion)) and (missing := _missing(universe, operation)):
        return missing
    if isinstance(operation, Completion) and isinstance(operation.why, Visit):
        return Want("other", where=operation.why.in_words())
    if isinstance(operation, Completion) and isinstance(operation.why, Reason):
        return Want("other", where=operation.why.in_words(), awaits=operation.why.awaits())
    if isinstance(operation, Awaited):
        words = operation.in_words()
        return Want("other", where=words, awaits=operation.awaits()) if words else None
    if isinstance(operation, Pattern):
        side: Side = operation.box.name
        source = operation.source if operation.source >= 0 else None
        others = other_side(side)
        awaits = (others.members[source],) if source is not None else ()
        tag = operation.tag if operation.tag >= 0 else None
        return Want("receive", source, tag, 0, _ring_size(side), where(side), awaits)
    if isinstance(operation, Envelope):
        side = operation.box.name
        dest = side.members.index(operation.box.owner)
        awaits = (operation.box.owner,)
        size = _ring_size(side)
        return Want("send", dest, operation.tag, operation.nbytes, size, where(side), awaits)
    return None


def _near_misses(tasks: list[Any], boxes: list[Mailbox]) -> Iterator[NearMiss]:
    """Messages that lie where a stuck rank could see them, and fit but for tag, source or communicator."""
    held: dict[int, list[tuple[Mailbox, Envelope]]] = {}
    for box in boxes:
        for envelope in box.envelopes():
            held.setdefault(box.owner, []).append((box, envelope))
    for task in tasks:
        process = task.owner
        for pattern in islice(_operations(task.reason), 32):  # each is compared with all that lies there
            if not isinstance(pattern, Pattern):
                continue
            for box, envelope in held.get(process.number, ()):
                but = _one_difference(pattern, box, envelope)
                if but:
                    yield NearMiss(process.number, envelope.out.number, envelope.tag, but)


def _one_difference(pattern: Pattern, box: Mailbox, envelope: Envelope) -> str:
    tag_fits = pattern.tag < 0 or pattern.tag == envelope.tag
    source_fits = pattern.source < 0 or pattern.source == envelope.source
    if box is pattern.box:
        if source_fits and not tag_fits:
            return f"but tag {pattern.tag} is awaited"
        if tag_fits and not source_fits:
            return f"but source {pattern.source} is awaited"
        return ""
    side = other_side(pattern.box.name)
    same_sender = pattern.source < 0 or side.members[pattern.source] == envelope.out.number
    if tag_fits and same_sender:
        return f"but on another communicator: {_name(box.name)}, not {_name(pattern.box.name)}"
    return ""


def _unreceived(boxes: list[Mailbox]) -> Iterator[Unreceived]:
    for box in boxes:
        for envelope in box.envelopes():
            if envelope.waiter is None or envelope.end is not None:  # otherwise its sender is stuck, and listed as such
                yield Unreceived(envelope.out.number, box.owner, envelope.tag, envelope.nbytes, where(box.name))


def other_side(side: Side) -> Side:
    """Where the senders are: the other side of an intercommunicator, or the same."""
    sides = side.context.sides
    return sides[-1 - sides.index(side)]


def _ring_size(side: Side) -> int:
    return 0 if side.context.is_inter else len(side.members)


def _name(side: Side) -> str:
    context = side.context
    if _is_world(side):
        return "COMM_WORLD"
    kind = "intercommunicator" if context.is_inter else "communicator"
    return f"{kind} {context.number} ({' + '.join(str(len(one.members)) for one in context.sides)} ranks)"


def where(side: Side) -> str:
    """Which communicator, in words that follow others; empty for the world."""
    return "" if _is_world(side) else f" on {_name(side)}"


def _is_world(side: Side) -> bool:
    """Whether it is its members' own world."""
    context = side.context
    return bool(context.universe.processes[side.members[0]].comm_world._context is context)
