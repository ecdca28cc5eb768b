"""Random changes of schedules: some change the meaning, others cannot."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from collectives.schedules import InvalidScheduleError, Range, Schedule, Step

CHANGES = (
    "peer", "tag", "offset", "size", "drop", "copy", "reduce", "dependencies", "swap", "twice",
)  # fmt: skip


def mutant(schedule: Schedule, random: Random) -> Schedule | None:
    """A schedule with one random change; None if the change does not apply or gives no valid schedule."""
    rank = random.randrange(schedule.ranks)
    if not schedule.steps[rank]:
        return None
    index = random.randrange(len(schedule.steps[rank]))
    steps = [list(one) for one in schedule.steps]
    old = steps[rank][index]
    new = _changed(schedule, rank, old, random.choice(CHANGES), random)
    if new is None or new == old:
        return None
    steps[rank][index] = new
    try:
        return replace(schedule, steps=steps)
    except InvalidScheduleError:
        return None


def _changed(schedule: Schedule, rank: int, old: Step, change: str, random: Random) -> Step | None:
    side = random.choice([name for name in ("source", "target") if getattr(old, name)] or [""])
    where: Range | None = getattr(old, side) if side else None
    if change == "peer" and old.kind in ("send", "recv"):
        return replace(old, peer=random.randrange(schedule.ranks))
    if change == "tag" and old.kind in ("send", "recv"):
        return replace(old, tag=old.tag + 1)
    if change == "offset" and where is not None:
        room = schedule.buffers[rank][where.buffer] - where.nbytes
        return _with(old, side, replace(where, offset=random.randint(0, room)))
    if change == "size" and where is not None and where.nbytes > 1:
        shorter = replace(where, nbytes=random.randrange(1, where.nbytes))
        if old.kind in ("copy", "reduce") and old.source and old.target:
            return replace(
                old, source=replace(old.source, nbytes=shorter.nbytes), target=replace(old.target, nbytes=shorter.nbytes)
            )
        return _with(old, side, shorter)
    if change == "drop":
        return replace(old, kind="compute", peer=-1, tag=0, source=None, target=None)
    if change == "copy" and old.kind == "reduce":
        return replace(old, kind="copy")
    if change == "reduce" and old.kind == "copy":
        return replace(old, kind="reduce")
    if change == "dependencies":
        return replace(old, after=(), after_start=())
    if change == "swap" and old.kind in ("copy", "reduce"):
        return replace(old, source=old.target, target=old.source)
    if change == "twice" and old.kind == "reduce" and old.target:
        return replace(old, source=old.target)
    return None


def _with(step: Step, side: str, where: Range) -> Step:
    return replace(step, source=where) if side == "source" else replace(step, target=where)


def same_meaning(schedule: Schedule, random: Random) -> Schedule:
    """A schedule that differs in tags, names of scratch memory, redundant dependencies and the order of its lists."""
    tags = {tag: number for number, tag in enumerate(random.sample(range(1000), 1000))}
    names = {
        name: name if name in ("input", "output") else f"memory{random.randrange(10**6)}_{name}"
        for sizes in schedule.buffers
        for name in sizes
    }

    def renamed(where: Range | None) -> Range | None:
        return where and replace(where, buffer=names[where.buffer])

    all_steps = []
    for rank, steps in enumerate(schedule.steps):
        before: dict[int, set[int]] = {}
        for index in schedule.order(rank):
            direct = {*steps[index].after}
            before[index] = direct.union(*(before[one] for one in direct))
        order = random.sample(range(len(steps)), len(steps))
        position = {old: new for new, old in enumerate(order)}
        shuffled = []
        for old in order:
            step = steps[old]
            extra = {one for one in before[old] if random.random() < 0.3}
            after = [position[one] for one in {*step.after, *extra}]
            random.shuffle(after)
            shuffled.append(
                replace(
                    step,
                    tag=tags[step.tag] if step.kind in ("send", "recv") else 0,
                    source=renamed(step.source),
                    target=renamed(step.target),
                    after=tuple(after),
                    after_start=tuple(position[one] for one in step.after_start),
                )
            )
        all_steps.append(shuffled)
    buffers = [{names[name]: size for name, size in sizes.items()} for sizes in schedule.buffers]
    return replace(schedule, steps=all_steps, buffers=buffers)
