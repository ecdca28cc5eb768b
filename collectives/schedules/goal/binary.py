"""Read the binary form of GOAL, which txt2bin of LogGOPSim writes. All numbers are little-endian.

    magic number 4223 (8 bytes); from here on, offsets count
    number of ranks (4), largest cpu (1), largest nic (1)
    for each rank: offsets of the start and of the end of its part (8 each)

The part of a rank has the number of its operations (4), the number and the indices of those that can start at once (4 each),
39 bytes for each operation, and a list of operations (4 each). An operation has the number of operations that it waits for
(4), its type (1), peer (4), size in bytes or nanoseconds (8), tag (4), cpu (1) and nic (1), and two parts of the list: the
operations that wait for its end, and for its start. A part is their number, and where they begin (4 each).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import numpy as np

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.goal.operations import WILDCARD
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import UNKNOWN, Range, Step

MAGIC: Final = (4223).to_bytes(8, "little")
HEADER: Final = struct.Struct("<IBB")
PART: Final = struct.Struct("<QQ")
COUNTS: Final = struct.Struct("<II")
OPERATION: Final = struct.Struct("<IBIQIBBIIII")
SEND, RECV, CALC = 1, 2, 3
ANY: Final = 0xFFFFFFFF
MOST: Final = 10**15
"""Longer messages and calculations are rejected, as in the text form."""


def read_binary(data: bytes) -> Schedule:
    """Return the schedule of a binary file; InvalidScheduleError with an offset in the file if it is invalid."""
    if not data.startswith(MAGIC):
        raise InvalidScheduleError("not a binary GOAL file: it does not start with the number 4223")
    ranks, _, _ = _unpacked(HEADER, data, len(MAGIC))
    table = len(MAGIC) + HEADER.size
    if not 1 <= ranks <= (len(data) - table) // PART.size:
        raise InvalidScheduleError(f"offset {len(MAGIC)}: the file is too short for {ranks:,} ranks, or has none")
    all_steps = []
    for rank in range(ranks):
        start, end = _unpacked(PART, data, table + rank * PART.size)
        if not table <= start + len(MAGIC) <= end + len(MAGIC) <= len(data):
            place = f"offset {table + rank * PART.size}: rank {rank}"
            raise InvalidScheduleError(f"{place} ends at {end + len(MAGIC):,}, but the file has {len(data):,} bytes")
        all_steps.append(_read_rank(data, start + len(MAGIC), end + len(MAGIC), rank, ranks))
    labels = {(rank, index): f"operation {index}" for rank, steps in enumerate(all_steps) for index in range(len(steps))}
    return Schedule(ranks, all_steps, [{} for _ in all_steps], labels=labels)


def _unpacked(form: struct.Struct, data: bytes, offset: int) -> tuple[int, ...]:
    if offset + form.size > len(data):
        raise InvalidScheduleError(f"offset {offset}: the file ends here, {form.size} more bytes are expected")
    return form.unpack_from(data, offset)


def _read_rank(data: bytes, start: int, end: int, rank: int, ranks: int) -> list[Step]:
    """Return the steps of a rank, whose part has these offsets in the file."""
    count, roots = _unpacked(COUNTS, data, start)
    first = start + COUNTS.size + 4 * roots
    listed = first + OPERATION.size * count
    if listed > end:
        raise InvalidScheduleError(f"offset {start}: rank {rank} has {count:,} operations, which do not fit into its part")
    waiting = np.frombuffer(data, "<u4", (end - listed) // 4, listed).tolist()
    rows = [OPERATION.unpack_from(data, first + OPERATION.size * index) for index in range(count)]
    if sum(row[7] + row[9] for row in rows) > len(waiting):
        raise InvalidScheduleError(f"offset {start}: the lists of rank {rank}'s operations that wait are not in the file")
    after: list[list[int]] = [[] for _ in rows]
    after_start: list[list[int]] = [[] for _ in rows]
    for index, row in enumerate(rows):
        for number, begin, waits in ((row[7], row[8], after), (row[9], row[10], after_start)):
            if number and begin + number > len(waiting):
                place = f"offset {first + OPERATION.size * index}: operation {index} of rank {rank}"
                raise InvalidScheduleError(f"{place}: the list of operations that wait for it is not in the file")
            for other in waiting[begin : begin + number] if number else ():
                if other >= count:
                    place = f"offset {first + OPERATION.size * index}: operation {index} of rank {rank}"
                    raise InvalidScheduleError(f"{place}: operation {other:,} waits for it, but the rank has {count:,}")
                waits[other].append(index)
    steps = []
    for index, row in enumerate(rows):
        place = f"offset {first + OPERATION.size * index}: operation {index} of rank {rank}"
        if row[0] != len(after[index]) + len(after_start[index]):
            found = len(after[index]) + len(after_start[index])
            raise InvalidScheduleError(f"{place} waits for {row[0]:,} operations, but {found:,} have it in their lists")
        steps.append(_step(row, after[index], after_start[index], ranks, place))
    return steps


def _step(row: Sequence[int], after: Sequence[int], after_start: Sequence[int], ranks: int, place: str) -> Step:
    """Return the step of an operation; `place` describes the operation for error messages."""
    _, kind, peer, size, tag, cpu, nic = row[:7]
    order = tuple(after), tuple(after_start)
    if size > MOST:
        raise InvalidScheduleError(f"{place}: the number {size:,} is too large")
    if kind == CALC:
        return Step("compute", -1, 0, None, None, size * 1e-9, *order, cpu)
    if kind not in (SEND, RECV):
        raise InvalidScheduleError(f"{place} has the type {kind}; send is {SEND}, recv {RECV}, calc {CALC}")
    if ANY in (peer, tag):
        raise InvalidScheduleError(f"{place}: {WILDCARD}")
    if peer >= ranks:
        raise InvalidScheduleError(f"{place}: rank {peer:,} does not exist, there are {ranks:,}")
    where = Range(UNKNOWN, 0, size) if size else None
    if kind == SEND:
        return Step("send", peer, tag, where, None, 0.0, *order, cpu, nic)
    return Step("recv", peer, tag, None, where, 0.0, *order, cpu, nic)


def refuse_binary(schedule: Schedule) -> str:
    """Raise InvalidScheduleError: the binary form is only read."""
    raise InvalidScheduleError("binary GOAL is read, but not written: write .goal, which txt2bin of LogGOPSim converts")
