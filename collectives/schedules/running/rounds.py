"""Rounds of transfers (`collectives.catalogue.schedule`) of a schedule, where they give its exact time.

A stage of a rank is a send, a receive, or one of each that start at the same time; the next stage starts when the stage and
the reductions after it have ended. If the steps of every rank form such a sequence, and the two ends of each message are in
stages that one round can hold, the recurrence of rounds is exact. Otherwise there are no rounds: `rounds` returns None.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from collectives.catalogue.schedule import Transfer
from collectives.schedules.matching import Event, execute
from collectives.schedules.schedule import Schedule

NOTHING: frozenset[int] = frozenset()


@dataclass
class Stage:
    """Messages of a rank that start at the same time, and the bytes that it combines afterwards."""

    messages: set[int] = field(default_factory=set)
    reductions: set[int] = field(default_factory=set)


def rounds(schedule: Schedule) -> list[list[Transfer]] | None:
    """Return the rounds of a schedule, or None if no rounds have exactly its times."""
    if schedule.buffering != "zero" or any(step.kind == "compute" and step.seconds for _, _, step in schedule):
        return None
    stages = []
    for rank in range(schedule.ranks):
        found = _stages(schedule, rank)
        if found is None:
            return None
        stages.append(found)
    return _merged(schedule, stages)


def _stages(schedule: Schedule, rank: int) -> list[Stage] | None:
    """Return the stages of a rank, or None if its steps are no sequence of stages."""
    steps = schedule.steps[rank]
    stages: list[Stage] = [Stage()]  # stage 0 has no messages
    before: list[tuple[int, frozenset[int], frozenset[int]]] = [(0, NOTHING, NOTHING)] * len(steps)
    after = list(before)
    # An entry of both lists: the number of the last stage of which messages have ended when the step starts or ends, and
    # which of its messages and reductions have ended then.
    for index in schedule.order(rank):
        step = steps[index]
        latest = (0, NOTHING, NOTHING)
        for each in (*(after[other] for other in step.after), *(before[other] for other in step.after_start)):
            if each[0] > latest[0]:
                latest = each
            elif each[0] == latest[0]:
                latest = (each[0], each[1] | latest[1], each[2] | latest[2])
        before[index] = after[index] = latest
        if step.kind in ("send", "recv"):
            number = latest[0] + 1
            if number == len(stages):
                stages.append(Stage())
            stages[number].messages.add(index)
            after[index] = (number, frozenset([index]), NOTHING)
        elif step.kind == "reduce" and step.nbytes:
            stages[latest[0]].reductions.add(index)
            after[index] = (latest[0], latest[1], latest[2] | {index})
    for number, stage in enumerate(stages):
        kinds = sorted(steps[index].kind for index in stage.messages)
        follows = [before[index] for index in stage.messages]
        ended = (number - 1, frozenset(stages[number - 1].messages), frozenset(stages[number - 1].reductions))
        if (number and kinds not in (["recv"], ["recv", "send"], ["send"])) or any(each != ended for each in follows):
            return None
        if stage.reductions and "recv" not in kinds:
            return None
        if any(before[index][:2] != (number, frozenset(stage.messages)) for index in stage.reductions):
            return None
    return stages[1:]


def _merged(schedule: Schedule, stages: list[list[Stage]]) -> list[list[Transfer]] | None:
    """Return rounds that contain each stage as a whole, in the order of every rank; None if there are none."""
    group = {(rank, number): (rank, number) for rank, found in enumerate(stages) for number in range(len(found))}
    stage_of = {
        (rank, index): (rank, number) for rank, found in enumerate(stages) for number, each in enumerate(found)
        for index in each.messages
    }  # fmt: skip

    def root(stage: Event) -> Event:
        while group[stage] != stage:
            group[stage] = stage = group[group[stage]]
        return stage

    matching = execute(schedule)
    if matching.blocked or any(send[0] == receive[0] for send, receive in matching.pairs):
        return None
    for send, receive in matching.pairs:
        group[root(stage_of[send])] = root(stage_of[receive])
    members: dict[Event, list[Event]] = defaultdict(list)
    for stage in group:
        members[root(stage)].append(stage)
    if any(len({rank for rank, _ in found}) < len(found) for found in members.values()):
        return None
    transfers: dict[Event, list[Transfer]] = defaultdict(list)
    for send, receive in matching.pairs:
        step, (rank, number) = schedule.steps[send[0]][send[1]], stage_of[receive]
        combined = sum(schedule.steps[rank][index].nbytes for index in stages[rank][number].reductions)
        transfers[root(stage_of[send])].append(Transfer(send[0], rank, step.nbytes, combined))
    return _ordered(members, transfers, {stage: root(stage) for stage in group})


def _ordered(
    members: dict[Event, list[Event]], transfers: dict[Event, list[Transfer]], round_of: dict[Event, Event]
) -> list[list[Transfer]] | None:
    """Return the rounds such that the stages of every rank are in order; None if they form a cycle."""
    waiting = {each: sum(number > 0 for _, number in found) for each, found in members.items()}
    ready = deque(each for each, count in waiting.items() if not count)
    order = []
    while ready:
        order.append(ready.popleft())
        for rank, number in members[order[-1]]:
            following = round_of.get((rank, number + 1))
            if following is not None:
                waiting[following] -= 1
                if not waiting[following]:
                    ready.append(following)
    return [transfers[each] for each in order] if len(order) == len(members) else None
