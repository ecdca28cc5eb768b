"""Random schedules: messages, copies and reductions on small buffers, with random dependencies. Most of them have faults."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from collectives.schedules import Range, Schedule, Step


def random_schedule(seed: int) -> Schedule:
    """The schedule of a seed, for 2 to 4 ranks. In some of them all messages have one tag."""
    random = Random(seed)
    ranks, size = random.randint(2, 4), random.choice((4, 8, 16))
    one_tag, steps = random.random() < 0.3, [list[Step]() for _ in range(ranks)]

    def place(nbytes: int) -> Range:
        return Range(random.choice(("input", "output", "scratch")), random.randint(0, size - nbytes), nbytes)

    def add(rank: int, step: Step) -> None:
        """Append a step with random dependencies."""
        count = len(steps[rank])
        after = {random.randrange(count) for _ in range(random.choice((0, 1, 1, 2)))} if count else set()
        if count and random.random() < 0.5:
            after.add(count - 1)
        started = (random.randrange(count),) if count and random.random() < 0.15 else ()
        steps[rank].append(replace(step, after=tuple(sorted(after)), after_start=started))

    for number in range(random.randint(3, 25)):
        rank, nbytes = random.randrange(ranks), random.randint(1, size // 4)
        if random.random() < 0.5:
            peer, tag = (rank + random.randint(1, ranks - 1)) % ranks, 0 if one_tag else number
            add(rank, Step("send", peer, tag, source=place(nbytes)))
            add(peer, Step("recv", rank, tag, target=place(nbytes)))
        else:
            step = Step("copy", source=place(nbytes), target=place(nbytes))
            add(rank, replace(step, kind="reduce") if random.random() < 0.5 else step)
    sizes = {"input": size, "output": size, "scratch": size}
    operation = random.choice(("barrier", "allreduce", "broadcast"))
    zero = random.random() < 0.5
    return Schedule(ranks, steps, [sizes] * ranks, operation=operation, buffering="zero" if zero else "infinite")
