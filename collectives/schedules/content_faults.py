"""Faults of contents: execute a schedule symbolically and compare its outputs with the demands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectives.schedules.contents import EMPTY, Contents, Interval, Terms, chunk_size
from collectives.schedules.contract_files import Piece
from collectives.schedules.contracts import Contributions
from collectives.schedules.faults import Fault
from collectives.schedules.matching import Event, Matching
from collectives.schedules.monitor import Monitor, ignore
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import UNKNOWN, Range

NOTHING = Range(UNKNOWN, 0, 0)


def wrong_contents(
    schedule: Schedule, matching: Matching, demanded: list[list[Piece]], *, ordered: bool, monitor: Monitor = ignore
) -> Iterator[Fault]:
    """Execute the schedule symbolically and compare the outputs."""
    contents, chunk = Contents(schedule), chunk_size(schedule, demanded)
    yield from _undefined(schedule, matching, contents, chunk, monitor)
    verdicts = Verdicts(contents.terms, ordered)
    for rank, pieces in enumerate(demanded):
        monitor("outputs", rank, schedule.ranks)
        for start, nbytes, operands in pieces:
            intervals = contents.read(rank, schedule.resolve(rank, Range("output", start, nbytes)))
            for wrong, (first, term, shift) in enumerate(intervals):
                if verdicts.agrees(term, shift, operands):
                    continue
                stop = intervals[wrong + 1][0] if wrong + 1 < len(intervals) else nbytes
                for at in range(first, stop, chunk):
                    where = Range("output", start + at, chunk)
                    held = contents.terms.contributions(term, shift + at)
                    expected = tuple((source, offset + at) for source, offset in operands)
                    fault = _difference(rank, where, held, expected, chunk)
                    yield _with_writer(schedule, matching, fault, schedule.resolve(rank, where))
    for fault, where in _overwritten(schedule, contents, chunk):
        yield _with_writer(schedule, matching, fault, where)


def _undefined(schedule: Schedule, matching: Matching, contents: Contents, chunk: int, monitor: Monitor) -> Iterator[Fault]:
    """Execute the steps; yield those that read bytes which have not been written."""
    carried: dict[Event, list[Interval]] = {}
    send_of = {receive: send for send, receive in matching.pairs}
    for number, (rank, index) in enumerate(matching.ended):
        if not number % 4096:
            monitor("contents", number, len(matching.ended))
        step = schedule.steps[rank][index]
        for where in step.reads():
            start = next((start for start, term, _ in contents.read(rank, where) if term == EMPTY), None)
            if start is not None:
                unwritten = Range(where.buffer, where.offset + start, chunk)
                text = f"{schedule.place(rank, index)}: {step}: reads {unwritten}, which has not been written"
                yield Fault("undefined", rank, index, str(unwritten), text)
        if step.kind == "send":
            carried[rank, index] = contents.read(rank, step.source or NOTHING)
        elif step.kind == "recv" and step.target:
            contents.write(rank, step.target, carried.pop(send_of[rank, index]))
        elif step.kind == "copy" and step.source and step.target:
            contents.write(rank, step.target, contents.read(rank, step.source))
        elif step.kind == "reduce" and step.source and step.target:
            both = contents.read(rank, step.source), contents.read(rank, step.target)
            contents.write(rank, step.target, contents.combine(*both))


class Verdicts:
    """Whether contents are those that are demanded. Many intervals have equal contents, so each verdict is kept."""

    def __init__(self, terms: Terms, ordered: bool) -> None:
        self._terms, self._ordered = terms, ordered
        self._known: dict[tuple[int, int, Contributions], bool] = {}

    def agrees(self, term: int, shift: int, operands: Sequence[tuple[int, int]]) -> bool:
        """Whether a term at a shift has the operands, in their order if it matters."""
        if len(operands) == 1:
            return self._terms.is_input(term, shift, *operands[0])
        key = term, shift, tuple(operands)
        if key not in self._known:
            held = self._terms.contributions(term, shift)
            self._known[key] = held == key[2] or (not self._ordered and sorted(held) == sorted(operands))
        return self._known[key]


def _with_writer(schedule: Schedule, matching: Matching, fault: Fault, where: Range) -> Fault:
    """Add the last step that writes the faulty chunk, if there is one."""
    for rank, index in reversed(matching.ended):
        if rank == fault.rank and any(written.overlaps(where) for written in schedule.steps[rank][index].writes()):
            message = f"{fault.message}; {schedule.place(rank, index)} writes it last"
            return replace(fault, step=index, message=message)
    return fault


def _overwritten(schedule: Schedule, contents: Contents, chunk: int) -> Iterator[tuple[Fault, Range]]:
    """Yield inputs that have changed, unless the operation is in place."""
    for rank, sizes in enumerate(schedule.buffers):
        aliases = schedule.aliases_of(rank)
        if "input" in aliases or any(whole == "input" for whole, _ in aliases.values()):
            continue
        for start, term, shift in contents.read(rank, Range("input", 0, sizes.get("input", 0))):
            if not contents.terms.is_input(term, shift, rank, 0):
                where = Range("input", start, chunk)
                text = f"rank {rank}: {where} is overwritten, but the operation is not in place"
                yield Fault("overwritten", rank, -1, str(where), text), where
                break


def _difference(rank: int, where: Range, held: Contributions, expected: Contributions, chunk: int) -> Fault:
    """Describe the first difference between the contributions of a chunk and those demanded."""

    def text(contribution: tuple[int, int]) -> str:
        return f"input[{contribution[1]}:{contribution[1] + chunk}] of rank {contribution[0]}"

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
