"""Write a schedule as XML of MSCCL: one thread block for each partner, direction and channel, and one for local steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

from collectives.schedules.contents import chunk_size
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.running.units import has_units
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import Range, Step

COMMENT: Final = "fakempi"
"""Start of the comment with the properties that MSCCL's attributes cannot express."""

COLLECTIVES: Final = {
    "bcast": "broadcast",
    "reduce_scatter_block": "reduce_scatter",
    "allgatherv": "allgather",
    "alltoallv": "alltoall",
}
"""MSCCL's names of operations."""

Block = tuple[str, int, int]
"""Direction ("send", "recv" or "" for local steps), partner and channel of a thread block."""


def write(schedule: Schedule) -> str:
    """Return the schedule as XML; InvalidScheduleError if MSCCL cannot express it."""
    if schedule.groups is not None:
        raise InvalidScheduleError("MSCCL has one group of ranks, but the schedule is between two groups")
    if not schedule.commutative:
        raise InvalidScheduleError(
            "MSCCL combines operands in any order, but the schedule is for an op that is not commutative"
        )
    if any(step.kind == "compute" and step.seconds for _, _, step in schedule):
        raise InvalidScheduleError("MSCCL has no step that computes for some time")
    if has_units(schedule):
        raise InvalidScheduleError("MSCCL has no cpu and no nic, but ranks of the schedule use several of them")
    if not schedule.has_ranges:
        raise InvalidScheduleError("MSCCL needs buffer ranges, but the schedule has only sizes")
    if any(step.kind in ("send", "recv") and not step.nbytes for _, _, step in schedule):
        raise InvalidScheduleError("MSCCL has no messages without data")
    in_place = any(schedule.aliases)
    schedule = schedule.without_aliases()
    chunk = chunk_size(schedule)
    channels = {
        tag: number for number, tag in enumerate(sorted({s.tag for _, _, s in schedule if s.kind in ("send", "recv")}))
    }
    notes: dict[str, Any] = {"chunk_bytes": chunk, "operation": schedule.operation, "root": schedule.root}
    notes["buffering"] = schedule.buffering
    if schedule.counts is not None:
        notes["counts"] = schedule.counts
    largest = max((sizes.get(name, 0) for sizes in schedule.buffers for name in ("input", "output")), default=0)
    coll = COLLECTIVES.get(schedule.operation, schedule.operation) or "custom"
    head = (
        f'<algo name="{escape(schedule.name or "schedule")}" coll="{escape(coll)}" ngpus="{schedule.ranks}" '
        f'nchannels="{max(1, len(channels))}" nchunksperloop="{largest // chunk}" proto="Simple" inplace="{int(in_place)}">'
    )
    lines = [f"<!-- {COMMENT} {json.dumps(notes)} -->", head]
    for rank in range(schedule.ranks):
        lines += _gpu(schedule, rank, chunk, channels)
    return "\n".join([*lines, "</algo>\n"])


def _gpu(schedule: Schedule, rank: int, chunk: int, channels: dict[int, int]) -> Iterator[str]:
    """Yield the lines of one rank."""
    sizes, steps, scratch = schedule.buffers[rank], schedule.steps[rank], {}
    total = 0
    for name in sizes:
        if name not in ("input", "output"):
            scratch[name], total = total, total + sizes[name]
    counts = [sizes.get("input", 0) // chunk, sizes.get("output", 0) // chunk, total // chunk]
    yield f'  <gpu id="{rank}" i_chunks="{counts[0]}" o_chunks="{counts[1]}" s_chunks="{counts[2]}">'
    blocks: dict[Block, list[int]] = {}
    for index in schedule.order(rank):
        blocks.setdefault(_block(steps[index], channels), []).append(index)
    lines = _number_steps(steps, blocks)
    needed = {position for _, _, depends in lines for position in depends[:1]}

    def place(where: Range | None) -> tuple[str, int, int]:
        if where is None:
            return "i", 0, 0
        letter = {"input": "i", "output": "o"}.get(where.buffer, "s")
        return letter, (where.offset + scratch.get(where.buffer, 0)) // chunk, where.nbytes // chunk

    for number, (way, peer, channel) in enumerate(blocks):
        send, recv = (peer if way == side else -1 for side in ("send", "recv"))
        yield f'    <tb id="{number}" send="{send}" recv="{recv}" chan="{max(0, channel)}">'
        for position, (block, index, depends) in enumerate(line for line in lines if line[0] == number):
            step = steps[index] if index >= 0 else Step("compute")
            kind = {"send": "s", "recv": "r", "copy": "cpy", "reduce": "re", "compute": "nop"}[step.kind]
            source, target = place(step.source or step.target), place(step.target or step.source)
            count = max(source[2], 1 if kind == "nop" else 0)
            depid, deps = depends[0] if depends else (-1, -1)
            yield (
                f'      <step s="{position}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}" dstbuf="{target[0]}" '
                f'dstoff="{target[1]}" cnt="{count}" depid="{depid}" deps="{deps}" '
                f'hasdep="{int((block, position) in needed)}"/>'
            )
        yield "    </tb>"
    yield "  </gpu>"


def _block(step: Step, channels: dict[int, int]) -> Block:
    return (step.kind, step.peer, channels[step.tag]) if step.kind in ("send", "recv") else ("", -1, -1)


Line = tuple[int, int, list[tuple[int, int]]]
"""Thread block, index of the step (-1 for a `nop`), and at most one (thread block, step) that it waits for."""


def _number_steps(steps: Sequence[Step], blocks: dict[Block, list[int]]) -> list[Line]:
    """Return the lines of all thread blocks; a step that waits for several others is preceded by steps `nop`."""
    block_of = {index: number for number, indices in enumerate(blocks.values()) for index in indices}
    order = {index: at for indices in blocks.values() for at, index in enumerate(indices)}
    waits: dict[int, list[int]] = {}
    for index, number in block_of.items():
        latest: dict[int, int] = {}
        for other in steps[index].after:
            block = block_of[other]
            if block != number and (block not in latest or order[other] > order[latest[block]]):
                latest[block] = other
        waits[index] = list(latest.values())
    positions: dict[int, tuple[int, int]] = {}
    for number, indices in enumerate(blocks.values()):
        at = 0
        for index in indices:
            at += max(0, len(waits[index]) - 1)
            positions[index] = (number, at)
            at += 1
    lines: list[Line] = []
    for number, indices in enumerate(blocks.values()):
        for index in indices:
            waited = [positions[other] for other in waits[index]]
            lines += [(number, -1, [other]) for other in waited[:-1]]
            lines.append((number, index, waited[-1:]))
    return lines
