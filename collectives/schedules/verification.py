"""Verify a schedule: symbolic execution over contributions, matching, deadlock, order and races."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise

from collectives.schedules.content_faults import wrong_contents
from collectives.schedules.contract_files import Piece
from collectives.schedules.contracts import NAMES, demands
from collectives.schedules.faults import Fault, FaultKind
from collectives.schedules.matching import Event, Matching, execute
from collectives.schedules.monitor import Monitor, ignore
from collectives.schedules.ordering.causality import StepOrder
from collectives.schedules.ordering.races import races
from collectives.schedules.schedule import Schedule
from collectives.schedules.work import check_steps

MAX_FAULTS = 20
"""Maximum number of reported faults of one kind."""


def verify(schedule: Schedule, operation: str, *, ordered: bool, monitor: Monitor = ignore) -> list[Fault]:
    """Return the faults of a schedule, in the order of execution; see `Schedule.verify`."""
    demanded = demands(schedule, operation)
    check_steps(schedule)
    schedule = schedule.without_aliases()
    matching = execute(schedule, monitor)
    faults = [*_first(_unmatched(schedule, matching)), *_first(_sizes(schedule, matching))]
    if faults:
        return faults
    causality = StepOrder(schedule, matching, monitor)
    faults = [*_first(_order(schedule, matching, causality)), *_first(races(schedule, causality, monitor))]
    if faults:
        return faults
    if NAMES.get(operation, operation) == "barrier":
        return list(_first(_early(schedule, causality)))
    if not schedule.has_ranges:
        return list(_first(_unreachable(schedule, matching, demanded)))
    return list(_first(wrong_contents(schedule, matching, demanded, ordered=ordered, monitor=monitor)))


def _first(faults: Iterator[Fault]) -> Iterator[Fault]:
    for fault, _ in zip(faults, range(MAX_FAULTS), strict=False):
        yield fault


def _unmatched(schedule: Schedule, matching: Matching) -> Iterator[Fault]:
    """Yield steps that never end: a message without partner, or a cycle of waiting ranks."""
    reachable = replace(schedule, buffering="infinite")
    without_partner = {*execute(reachable).blocked} if matching.blocked else set()
    for rank, index in [event for event in matching.blocked if event in without_partner] or matching.blocked:
        step, place = schedule.steps[rank][index], schedule.place(rank, index)
        kind: FaultKind = "unmatched" if _is_unmatched(schedule, rank, index) else "deadlock"
        why = "has no partner" if kind == "unmatched" else "waits in a cycle, or for a rank that waits in one"
        yield Fault(kind, rank, index, str(step.source or step.target or ""), f"{place}: {step}: {why}")
    if schedule.buffering == "infinite":
        for sends, receives in matching.starts.values():
            for rank, index in sends[len(receives) :]:
                step = schedule.steps[rank][index]
                yield Fault(
                    "unmatched",
                    rank,
                    index,
                    str(step.source or ""),
                    f"{schedule.place(rank, index)}: {step}: has no partner",
                )


def _is_unmatched(schedule: Schedule, rank: int, index: int) -> bool:
    """Whether one side of the step's channel has more messages than the other, in the whole schedule."""
    step = schedule.steps[rank][index]
    other = "recv" if step.kind == "send" else "send"
    mine = sum(
        (candidate.kind, candidate.peer, candidate.tag) == (step.kind, step.peer, step.tag)
        for candidate in schedule.steps[rank]
    )
    theirs = sum(
        (candidate.kind, candidate.peer, candidate.tag) == (other, rank, step.tag) for candidate in schedule.steps[step.peer]
    )
    return mine > theirs


def _sizes(schedule: Schedule, matching: Matching) -> Iterator[Fault]:
    """Yield messages whose two sides differ in size."""
    for send, receive in matching.pairs:
        sent, taken = (schedule.steps[rank][index] for rank, index in (send, receive))
        if sent.nbytes != taken.nbytes:
            text = (
                f"{schedule.place(*receive)}: receives {taken.nbytes} bytes, but {schedule.place(*send)} sends {sent.nbytes}"
            )
            yield Fault("size", *receive, str(taken.target or ""), text)


def _order(schedule: Schedule, matching: Matching, causality: StepOrder) -> Iterator[Fault]:
    """Yield messages of one channel that may start in either order, so that timing decides what they match."""
    pairs = [pair for sides in matching.starts.values() for events in sides for pair in pairwise(events)]
    for (first, second), in_order in zip(pairs, causality.starts_in_order(pairs), strict=True):
        if not in_order:
            text = (
                f"{schedule.place(*second)}: {schedule.steps[second[0]][second[1]]}: may start before or after "
                f"{schedule.place(*first)}, so timing decides which message it matches; add a dependency or "
                "another tag"
            )
            yield Fault("order", *second, "", text)


def _early(schedule: Schedule, causality: StepOrder) -> Iterator[Fault]:
    """Yield pairs of ranks of a barrier in which one may end before the other one starts."""
    reaching = causality.reaching()
    for rank, other in combinations(range(schedule.ranks), 2):
        if other not in schedule.sides(rank)[1]:
            continue  # between two groups, a rank waits for the other group only
        for late, early in ((rank, other), (other, rank)):
            if not reaching[early] >> late & 1:
                text = f"rank {early} may end before rank {late} starts: no chain of messages leads from {late} to {early}"
                yield Fault("missing", early, -1, "", text)


def _unreachable(schedule: Schedule, matching: Matching, demanded: list[list[Piece]]) -> Iterator[Fault]:
    """Yield contributions that cannot reach a rank, if the file gives sizes but no ranges.

    Every message is assumed to carry everything that its sender holds, so this finds only some of the faults.
    """
    holds = [{rank} for rank in range(schedule.ranks)]
    carried: dict[Event, set[int]] = {}
    send_of = {receive: send for send, receive in matching.pairs}
    for rank, index in matching.ended:
        if schedule.steps[rank][index].kind == "send":
            carried[rank, index] = set(holds[rank])
        elif (rank, index) in send_of:
            holds[rank] |= carried.get(send_of[rank, index], holds[send_of[rank, index][0]])
    for rank, pieces in enumerate(demanded):
        needed = {source for _, _, operands in pieces for source, _ in operands}
        for source in sorted(needed - holds[rank]):
            yield Fault(
                "missing", rank, -1, "", f"rank {rank}: no chain of messages brings the contribution of rank {source}"
            )
