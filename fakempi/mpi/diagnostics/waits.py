"""Diagnosis of blocked ranks: the operations that they wait for, from tasks and stacks, as records for a report."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import islice
from types import FrameType
from typing import Any

from fakempi.core.kernel.task import Task
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox
from fakempi.core.reports.deadlock import Unreceived, positions, report
from fakempi.core.reports.written_arguments import written_arguments
from fakempi.errors import DeadlockError
from fakempi.errors.records import AwaitedEvent, BlockedRank, NearMiss
from fakempi.mpi.base.call_matching import PERSISTENT, TAGS, missing_processes
from fakempi.mpi.base.call_site import library_call, place_of, program_frame, public_call
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.context import Contexts, Side
from fakempi.mpi.base.process import RunState, Universe
from fakempi.mpi.base.rendezvous import Rendezvous
from fakempi.mpi.base.waiting import AllOf, Awaited, Completion, Reason
from fakempi.mpi.comms.port import PortWait
from fakempi.mpi.interfaces.operations import Operation


class DeadlockState(RunState):
    """State of the diagnosis of a blocked run."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.events: dict[Hashable, AwaitedEvent | None] = {}  # by collective call, shared by all waiting ranks
        self.unsuccessful_polls = 0  # rounds of unsuccessful polling, if the run has ended because of that


def diagnose(universe: Universe) -> DeadlockError:
    """Return the error of a deadlock: what each rank waits for, and messages that nearly match."""
    loop = universe.loop
    tasks = list(loop.tasks.values())
    frames = loop.backend.frames(tasks)
    polling = set(loop.pollers)
    shown_tasks = [task for task in tasks if not _is_waited_for(task)]
    blocked = [_blocked_rank(universe, task, frames.get(task), task in polling) for task in shown_tasks]
    shown = [side for side in universe.state(Contexts).sides if side.original is None]  # without collective contexts
    shown.sort(key=lambda side: (side.context.number, side.context.sides.index(side)))
    boxes = [box for side in shown for box in side.boxes if box is not None]
    return report(
        sorted(blocked, key=lambda record: record.rank),
        len(universe.processes),
        loop.now,
        list(_near_misses(tasks, boxes)),
        list(_unreceived(boxes)),
        polling=loop.starved,
        names=universe.names,
        rounds=universe.state(DeadlockState).unsuccessful_polls,
        remarks=[text for remark in universe.remarks if (text := remark())],
    )


def rank_positions(universe: Universe, frame: FrameType | None = None) -> list[str]:
    """Return the position of every rank as lines of text; `frame` is where the running rank was interrupted."""
    loop = universe.loop
    tasks = [task for task in list(loop.tasks.values()) if not _is_waited_for(task)]
    runs = loop.running  # read once: the caller may be another thread
    running = [task for task in tasks if task is runs]
    if isinstance(runs, Task) and (current := loop.backend.frames([runs]).get(runs)) is not None:
        frame = current  # with threads, it is not the interrupted frame
    waiting = [task for task in tasks if task.handle is not None and task not in running]
    frames = loop.backend.frames(waiting)
    blocked = [_blocked_rank(universe, task, frames.get(task), False) for task in waiting]
    blocked = [record if record.events else replace(record, since=loop.now) for record in blocked]  # it is about to continue
    return positions(
        sorted(blocked, key=lambda record: record.rank),
        [_blocked_rank(universe, task, program_frame(frame), True) for task in running],
        [task.owner.number for task in tasks if task.handle is None],
        universe.names,
    )


def blocked_ranks(universe: Universe) -> list[BlockedRank]:
    """Return the ranks that are blocked now, in a run that something else ends."""
    loop = universe.loop
    tasks = [task for task in loop.tasks.values() if task.handle is not None and not _is_waited_for(task)]
    frames = loop.backend.frames(tasks)
    records = [_blocked_rank(universe, task, frames.get(task), False) for task in tasks if task is not loop.running]
    return sorted((record for record in records if record.events), key=lambda record: record.rank)


def is_in_mpi_call(task: Task) -> bool:
    """Return whether a task waits for an MPI operation."""
    return any(not isinstance(operation, Awaited) for operation in _operations(task.reason))


def call_lines(universe: Universe, tasks: list[Task]) -> list[str]:
    """Return a line of text for each state of the tasks that wait in an MPI call."""
    inside = [task for task in tasks if is_in_mpi_call(task)]
    frames = universe.loop.backend.frames(inside)
    blocked = [_blocked_rank(universe, task, frames.get(task), False) for task in inside]
    return positions(blocked, [], [], universe.names)


def _blocked_rank(universe: Universe, task: Task, frame: FrameType | None, polls: bool) -> BlockedRank:
    waits = isinstance(task.reason, Awaited) and task.reason.end is None
    call, program = library_call(frame) if waits else public_call(frame)
    place = place_of(program)
    if isinstance(task.body, ChildTask):
        call, place = task.body.call, task.body.place
    thread = task.handle.name if task.owner.started(task) else ""
    pairs = ((operation, _awaited_event(universe, operation)) for operation in _operations(task.reason))
    events = tuple(_with_arguments(event, operation, call, program) for operation, event in pairs if event is not None)
    any_suffices = isinstance(task.reason, tuple) and task.reason[:1] == ("any",)
    since = universe.loop.now if polls else task.since
    return BlockedRank(task.owner.number, call, place, since, events, any_suffices, polls, thread)


def _with_arguments(event: AwaitedEvent, operation: Operation, call: str, frame: FrameType | None) -> AwaitedEvent:
    """Add the arguments that the program has written, in the call that waits or in the one that made the request."""
    if event.kind not in ("receive", "send"):
        return event
    call_site: Any = getattr(operation, "call_site", None)
    if call_site is not None and call_site.code is not None:
        line = getattr(call_site.place, "line", 0)
        written = written_arguments(call_site.call, call_site.code, call_site.instruction, line)
    else:
        written = {} if frame is None else written_arguments(call, frame.f_code, frame.f_lasti, frame.f_lineno)
    peer, tag = ("source", "recvtag") if event.kind == "receive" else ("dest", "sendtag")
    if not written:
        return event
    return replace(event, peer_written=written.get(peer, ""), tag_written=written.get("tag", written.get(tag, "")))


def _operations(reason: object) -> Iterator[Any]:
    """Yield the incomplete operations in a task's reason for waiting."""
    if isinstance(reason, tuple):
        for part in reason:
            yield from _operations(part)
    elif isinstance(reason, AllOf):
        yield from _operations(tuple(reason.operations))
    elif isinstance(reason, Completion) and isinstance(reason.why, ChildTask) and reason.end is None:
        yield from _operations(None if reason.why.task is None else reason.why.task.reason)
    elif reason is not None and getattr(reason, "end", None) is None and not isinstance(reason, str):
        yield reason


def _is_waited_for(task: Task) -> bool:
    """Return whether a child task's rank waits for it and so represents it in the report."""
    return isinstance(task.body, ChildTask) and task.body.completion.waiter is not None


def _missing(universe: Universe, operation: PostedReceive | Envelope | Completion) -> AwaitedEvent | None:
    """Return the ranks missing from a collective call or rendezvous; ranks that wait for the same call share one record."""
    if isinstance(operation, Completion):
        rendezvous = operation.why
        if not isinstance(rendezvous, Rendezvous):
            return None
        key: Any = id(rendezvous)
        numbers = rendezvous.missing
    else:
        side: Side = operation.box.name
        if side.original is None:
            return None
        waits = side if isinstance(operation, PostedReceive) else side.peer  # senders are on the other side
        here: Any = waits.original
        rank: Any = here.members.index(operation.box.owner if isinstance(operation, PostedReceive) else operation.out.number)
        key = (id(here), rank if operation.tag >= PERSISTENT else None, operation.tag % TAGS)

        def numbers() -> list[int]:
            return missing_processes(here, rank, operation.tag)

    known = universe.state(DeadlockState).events
    if key not in known:
        missing = tuple(numbers())
        known[key] = AwaitedEvent("collective", awaits=missing) if missing else None
    return known[key]


def _awaited_event(universe: Universe, operation: Operation) -> AwaitedEvent | None:
    if isinstance(operation, (PostedReceive, Envelope, Completion)) and (missing := _missing(universe, operation)):
        return missing
    if isinstance(operation, Completion) and isinstance(operation.why, PortWait):
        return AwaitedEvent("other", where=operation.why.describe())
    if isinstance(operation, Completion) and isinstance(operation.why, Reason):
        return AwaitedEvent("other", where=operation.why.describe(), awaits=operation.why.awaits())
    if isinstance(operation, Awaited):
        description = operation.describe()
        return AwaitedEvent("other", where=description, awaits=operation.awaits()) if description else None
    if isinstance(operation, PostedReceive):
        side: Side = operation.box.name
        source = operation.source if operation.source >= 0 else None
        others = side.peer
        awaits = (others.members[source],) if source is not None else ()
        tag = operation.tag if operation.tag >= 0 else None
        return AwaitedEvent("receive", source, tag, 0, _ring_size(side), where(side), awaits)
    if isinstance(operation, Envelope):
        side = operation.box.name
        dest = side.members.index(operation.box.owner)
        awaits = (operation.box.owner,)
        size = _ring_size(side)
        return AwaitedEvent("send", dest, operation.tag, operation.nbytes, size, where(side), awaits)
    return None


def _near_misses(tasks: list[Task], boxes: list[Mailbox]) -> Iterator[NearMiss]:
    """Yield messages in the mailbox of a blocked rank that match its receive except for tag, source or communicator."""
    held: dict[int, list[tuple[Mailbox, Envelope]]] = {}
    for box in boxes:
        for envelope in box.envelopes():
            held.setdefault(box.owner, []).append((box, envelope))
    for task in tasks:
        process = task.owner
        for receive in islice(_operations(task.reason), 32):  # each is compared with all messages there
            if not isinstance(receive, PostedReceive):
                continue
            for box, envelope in held.get(process.number, ()):
                but = _one_difference(receive, box, envelope)
                if but:
                    yield NearMiss(process.number, envelope.out.number, envelope.tag, but)


def _one_difference(receive: PostedReceive, box: Mailbox, envelope: Envelope) -> str:
    tag_matches = receive.tag < 0 or receive.tag == envelope.tag
    source_matches = receive.source < 0 or receive.source == envelope.source
    if box is receive.box:
        if source_matches and not tag_matches:
            return f"but the receive expects tag {receive.tag}"
        if tag_matches and not source_matches:
            return f"but the receive expects source {receive.source}"
        return ""
    side: Side = receive.box.name.peer
    same_sender = receive.source < 0 or side.members[receive.source] == envelope.out.number
    if tag_matches and same_sender:
        return f"but on another communicator: {_name(box.name)}, not {_name(receive.box.name)}"
    return ""


def _unreceived(boxes: list[Mailbox]) -> Iterator[Unreceived]:
    for box in boxes:
        for envelope in box.envelopes():
            if envelope.waiter is None or envelope.end is not None:  # otherwise its sender is blocked and listed
                yield Unreceived(envelope.out.number, box.owner, envelope.tag, envelope.nbytes, where(box.name))


def _ring_size(side: Side) -> int:
    return 0 if side.context.is_inter else len(side.members)


def _name(side: Side) -> str:
    context = side.context
    if _is_world(side):
        return "COMM_WORLD"
    kind = "intercommunicator" if context.is_inter else "communicator"
    return f"{kind} {context.number} ({' + '.join(str(len(part.members)) for part in context.sides)} ranks)"


def where(side: Side) -> str:
    """Return the name of a communicator as a suffix of a sentence; empty for COMM_WORLD."""
    return "" if _is_world(side) else f" on {_name(side)}"


def _is_world(side: Side) -> bool:
    """Return whether it is the COMM_WORLD of its members."""
    context = side.context
    return bool(context.universe.processes[side.members[0]].comm_world._context is context)
