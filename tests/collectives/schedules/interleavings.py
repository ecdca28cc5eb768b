"""An independent oracle: execute a schedule with concrete data in a random legal interleaving.

Each byte of an input is the tuple ((rank, offset),); a reduction concatenates. A send reads its data at a random time
between its start and its end, and a receive writes at a random time between its match and its end. The code shares nothing
with the verifier but the classes Schedule and Step.
"""

from __future__ import annotations

from random import Random
from typing import Any

from collectives.schedules import Range, Schedule

Byte = tuple[tuple[int, int], ...]
Memory = list[dict[str, list[Byte | None]]]


class Failure(Exception):
    """The execution deadlocks, leaves messages, or two sides of a message differ in size."""


def outputs(schedule: Schedule, seed: int, ordered: bool = False) -> Any:
    """The contents of all outputs and inputs at the end, without the order of operands unless `ordered`."""
    memory = _execute(schedule, Random(seed))
    result = []
    for rank, sizes in enumerate(schedule.buffers):
        for name in ("input", "output"):
            if name in sizes:
                held = _read(schedule, memory, rank, Range(name, 0, sizes[name]))
                result.append([each if ordered or each is None else tuple(sorted(each)) for each in held])
    return result


def _place(schedule: Schedule, rank: int, where: Range) -> tuple[str, int]:
    whole, offset = (schedule.aliases[rank] if schedule.aliases else {}).get(where.buffer, (where.buffer, 0))
    return whole, offset + where.offset


def _read(schedule: Schedule, memory: Memory, rank: int, where: Range | None) -> list[Byte | None]:
    if where is None or not where.nbytes:
        return []
    name, start = _place(schedule, rank, where)
    return memory[rank][name][start : start + where.nbytes]


def _write(schedule: Schedule, memory: Memory, rank: int, where: Range | None, data: list[Byte | None]) -> None:
    if where is not None and where.nbytes:
        name, start = _place(schedule, rank, where)
        memory[rank][name][start : start + where.nbytes] = data


def _execute(schedule: Schedule, random: Random) -> Memory:
    memory: Memory = [{name: [None] * size for name, size in sizes.items()} for sizes in schedule.buffers]
    for rank, sizes in enumerate(schedule.buffers):
        size = sizes.get("input", 0)
        _write(schedule, memory, rank, Range("input", 0, size), [((rank, offset),) for offset in range(size)])
    todo = {(rank, index) for rank, index, _ in schedule}
    started: set[tuple[int, int]] = set()
    ended: set[tuple[int, int]] = set()
    sends: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    receives: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    messages: dict[tuple[int, int], list[Byte | None]] = {}
    transfers: list[tuple[tuple[int, int], tuple[int, int]]] = []

    def can_start(rank: int, index: int) -> bool:
        step = schedule.steps[rank][index]
        return all((rank, one) in ended for one in step.after) and all((rank, one) in started for one in step.after_start)

    while True:
        choices: list[tuple[str, Any]] = [("start", one) for one in sorted(todo) if can_start(*one)]
        choices += [("transfer", pair) for pair in transfers]
        if not choices:
            break
        action, what = random.choice(choices)
        if action == "transfer":
            (source, at), (dest, there) = what
            transfers.remove(what)
            sent, taken = schedule.steps[source][at], schedule.steps[dest][there]
            data = messages.pop((source, at), None)
            data = _read(schedule, memory, source, sent.source) if data is None else data
            if len(data) != taken.nbytes:
                raise Failure("sizes differ")
            _write(schedule, memory, dest, taken.target, data)
            ended |= {(source, at), (dest, there)}
            continue
        rank, index = what
        step = schedule.steps[rank][index]
        todo.remove(what)
        started.add(what)
        if step.kind in ("send", "recv"):
            channel = (rank, step.peer, step.tag) if step.kind == "send" else (step.peer, rank, step.tag)
            (sends if step.kind == "send" else receives).setdefault(channel, []).append(what)
            if step.kind == "send" and schedule.buffering == "infinite":
                messages[what] = _read(schedule, memory, rank, step.source)
                ended.add(what)
            if sends.get(channel) and receives.get(channel):
                transfers.append((sends[channel].pop(0), receives[channel].pop(0)))
            continue
        if step.kind == "copy":
            _write(schedule, memory, rank, step.target, _read(schedule, memory, rank, step.source))
        elif step.kind == "reduce":
            pairs = zip(_read(schedule, memory, rank, step.source), _read(schedule, memory, rank, step.target), strict=True)
            _write(schedule, memory, rank, step.target, [(a or ()) + (b or ()) for a, b in pairs])
        ended.add(what)
    if todo or len(ended) < len(started) or any(sends.values()) or any(receives.values()):
        raise Failure("the execution does not end")
    return memory
