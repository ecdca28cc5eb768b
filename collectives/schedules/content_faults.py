"""Faults of contents: execute a schedule symbolically and compare its outputs with the demands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from collectives.schedules.contents import Contents
from collectives.schedules.contract_files import Piece
from collectives.schedules.contracts import Contributions
from collectives.schedules.faults import Fault
from collectives.schedules.matching import Event, Matching
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import UNKNOWN, Range

NOTHING = Range(UNKNOWN, 0, 0)


def wrong_contents(schedule: Schedule, matching: Matching, demanded: list[list[Piece]], *, ordered: bool) -> Iterator[Fault]:
    """Execute the schedule symbolically and compare the outputs."""
    contents = Contents(schedule, demanded)
    carried: dict[Event, NDArray[np.int64]] = {}
    send_of = {receive: send for send, receive in matching.pairs}
    for rank, index in matching.ended:
        step = schedule.steps[rank][index]
        for where in step.reads():
            missing = np.flatnonzero(contents.part(rank, where) == 0)
            if missing.size:
                offset = where.offset + int(missing[0]) * contents.chunk
                unwritten = Range(where.buffer, offset, contents.chunk)
                text = f"{schedule.place(rank, index)}: {step}: reads {unwritten}, which has not been written"
                yield Fault("undefined", rank, index, str(unwritten), text)
        if step.kind == "send":
            carried[rank, index] = contents.part(rank, step.source or NOTHING).copy()
        elif step.kind == "recv" and step.target:
            contents.part(rank, step.target)[:] = carried.pop(send_of[rank, index])
        elif step.kind == "copy" and step.source and step.target:
            contents.part(rank, step.target)[:] = contents.part(rank, step.source).copy()
        elif step.kind == "reduce" and step.source and step.target:
            target = contents.part(rank, step.target)
            target[:] = contents.combine(contents.part(rank, step.source), target)
    for rank, pieces in enumerate(demanded):
        for start, nbytes, operands in pieces:
            where = schedule.resolve(rank, Range("output", start, nbytes))
            numbers = contents.part(rank, where)
            for chunk, number in enumerate(numbers.tolist()):
                expected = tuple((source, offset // contents.chunk + chunk) for source, offset in operands)
                held = contents.value(number)
                if held != expected and (ordered or sorted(held) != sorted(expected)):
                    at = Range("output", start + chunk * contents.chunk, contents.chunk)
                    fault = _difference(rank, at, held, expected, contents.chunk)
                    yield _with_writer(schedule, matching, fault, schedule.resolve(rank, at))
    for fault, where in _overwritten(schedule, contents):
        yield _with_writer(schedule, matching, fault, where)


def _with_writer(schedule: Schedule, matching: Matching, fault: Fault, where: Range) -> Fault:
    """Add the last step that writes the faulty chunk, if there is one."""
    for rank, index in reversed(matching.ended):
        if rank == fault.rank and any(written.overlaps(where) for written in schedule.steps[rank][index].writes()):
            message = f"{fault.message}; {schedule.place(rank, index)} writes it last"
            return replace(fault, step=index, message=message)
    return fault


def _overwritten(schedule: Schedule, contents: Contents) -> Iterator[tuple[Fault, Range]]:
    """Yield inputs that have changed, unless the operation is in place."""
    for rank, sizes in enumerate(schedule.buffers):
        aliases = schedule.aliases_of(rank)
        if "input" in aliases or any(whole == "input" for whole, _ in aliases.values()):
            continue
        held = contents.part(rank, Range("input", 0, sizes.get("input", 0))).tolist()
        for chunk, number in enumerate(held):
            if contents.value(number) != ((rank, chunk),):
                where = Range("input", chunk * contents.chunk, contents.chunk)
                text = f"rank {rank}: {where} is overwritten, but the operation is not in place"
                yield Fault("overwritten", rank, -1, str(where), text), where
                break


def _difference(rank: int, where: Range, held: Contributions, expected: Contributions, chunk: int) -> Fault:
    """Describe the first difference between the contributions of a chunk and those demanded."""

    def text(contribution: tuple[int, int]) -> str:
        return f"input[{contribution[1] * chunk}:{(contribution[1] + 1) * chunk}] of rank {contribution[0]}"

    if not held:
        return Fault("missing", rank, -1, str(where), f"rank {rank}: {where} is never written, expected {text(expected[0])}")
    counts = Counter(held)
    for contribution in expected:
        if not counts[contribution]:
            instead = f"; it holds {text(held[0])}" if len(expected) == len(held) == 1 else ""
            message = f"rank {rank}: {where} lacks the contribution {text(contribution)}{instead}"
            return Fault("missing", rank, -1, str(where), message)
    wanted = {*expected}
    for contribution, count in counts.items():
        if contribution not in wanted:
            message = f"rank {rank}: {where} has the extra contribution {text(contribution)}"
            return Fault("extra", rank, -1, str(where), message)
        if count > 1:
            message = f"rank {rank}: {where} has the contribution {text(contribution)} {count} times"
            return Fault("duplicate", rank, -1, str(where), message)
    order = ", ".join(str(source) for source, _ in held)
    return Fault(
        "wrong", rank, -1, str(where), f"rank {rank}: {where} combines the operands of ranks {order}, not in rank order"
    )
