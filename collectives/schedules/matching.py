"""Execute a schedule without data: which send matches which receive, in which order steps end, and which steps never end.

Every step starts as soon as its dependencies allow it. Messages between two ranks with one tag match in the order in which
their steps start. If the steps of each channel start in a fixed order, which `causality` checks, the set of steps that end
does not depend on timing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from collectives.schedules.monitor import Monitor, ignore
from collectives.schedules.schedule import Schedule

Event = tuple[int, int]
"""(rank, index) of a step."""

Channel = tuple[int, int, int]
"""Source, destination and tag of messages."""


@dataclass
class Matching:
    """The result of an execution.

    Attributes
    ----------
    pairs : (send, receive) in the order in which they match
    ended : all steps that end, in an order in which they can end; a receive follows its send
    started : all steps that start, in an order in which they can start
    starts : the steps of each channel in the order in which they start: sends and receives
    blocked : steps that have started and do not end
    """

    pairs: list[tuple[Event, Event]] = field(default_factory=list)
    ended: list[Event] = field(default_factory=list)
    started: list[Event] = field(default_factory=list)
    starts: dict[Channel, tuple[list[Event], list[Event]]] = field(default_factory=lambda: defaultdict(lambda: ([], [])))
    blocked: list[Event] = field(default_factory=list)


def execute(schedule: Schedule, monitor: Monitor = ignore) -> Matching:
    """Execute the steps of all ranks."""
    result, steps, total = Matching(), schedule.steps, sum(map(len, schedule.steps))
    waiting = {(rank, index): len({*step.after}) + len({*step.after_start}) for rank, index, step in schedule}
    on_end: dict[Event, list[Event]] = defaultdict(list)
    on_start: dict[Event, list[Event]] = defaultdict(list)
    for rank, index, step in schedule:
        for before in {*step.after}:
            on_end[rank, before].append((rank, index))
        for before in {*step.after_start}:
            on_start[rank, before].append((rank, index))
    ready = deque(event for event, count in waiting.items() if not count)
    open_sends: dict[Channel, deque[Event]] = defaultdict(deque)
    open_receives: dict[Channel, deque[Event]] = defaultdict(deque)
    unended: dict[Event, None] = {}

    def release(events: list[Event]) -> None:
        for event in events:
            waiting[event] -= 1
            if not waiting[event]:
                ready.append(event)

    def end(event: Event) -> None:
        unended.pop(event)
        result.ended.append(event)
        release(on_end[event])

    while ready:
        event = ready.popleft()
        if not len(result.started) % 4096:
            monitor("messages", len(result.started), total)
        rank, index = event
        step = steps[rank][index]
        unended[event] = None
        result.started.append(event)
        release(on_start[event])
        if step.kind not in ("send", "recv"):
            end(event)
            continue
        sending = step.kind == "send"
        channel = (rank, step.peer, step.tag) if sending else (step.peer, rank, step.tag)
        result.starts[channel][not sending].append(event)
        (open_sends if sending else open_receives)[channel].append(event)
        if sending and schedule.buffering == "infinite":
            end(event)
        if open_sends[channel] and open_receives[channel]:
            pair = open_sends[channel].popleft(), open_receives[channel].popleft()
            result.pairs.append(pair)
            for node in pair:
                if node in unended:
                    end(node)
    result.blocked = list(unended)
    return result
