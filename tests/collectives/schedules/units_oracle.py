"""An independent oracle for ranks with several cpus and nics: random schedules, and a plain event loop for their times.

Every nic has one partner: the nic with its number of another rank. So its messages follow each other in the order of their
sends, and a message of n bytes takes LATENCY + n. The rules are those of docs/schedules.md; the code shares nothing with the
product but the classes Schedule and Step.
"""

from __future__ import annotations

from collections import defaultdict, deque
from heapq import heappop, heappush
from random import Random

from collectives.schedules import Range, Schedule, Step
from collectives.schedules.step import UNKNOWN

LATENCY = 1000


def random_units(seed: int, partners: bool = True) -> Schedule:
    """A schedule of two to four ranks with up to three cpus and nics. Times are whole nanoseconds that rarely coincide.

    Without `partners`, any nic sends to any other, and each rank computes first, so that the first messages of different
    ranks leave at different times. `Simulation` cannot be used for such a schedule.
    """
    random = Random(seed)
    ranks, cpus, nics = random.randint(2, 4), random.randint(1, 3), random.randint(1, 3)
    steps: list[list[Step]] = [[] for _ in range(ranks)]

    def add(rank: int, kind: str, peer: int = -1, tag: int = 0, nbytes: int = 0, nic: int = 0) -> None:
        count = len(steps[rank])
        if not (count or partners):
            steps[rank].append(Step("compute", seconds=random.randint(1, 10**6) * 1e-9))
            count = 1
        after = {random.randrange(count) for _ in range(random.choice((0, 1, 1, 2)))} if count else set()
        after = after or ({0} if not partners else after)
        started = {random.randrange(count)} if count and random.random() < 0.2 else set()
        cpu, order = random.randrange(cpus), {"after": tuple(sorted(after)), "after_start": tuple(sorted(started - after))}
        where = Range(UNKNOWN, 0, nbytes)
        if kind == "send":
            steps[rank].append(Step("send", peer, tag, source=where, **order, cpu=cpu, nic=nic))  # type: ignore[arg-type]
        elif kind == "recv":
            steps[rank].append(Step("recv", peer, tag, target=where, **order, cpu=cpu, nic=nic))  # type: ignore[arg-type]
        else:
            time = random.randint(1, 10**6) * 1e-9
            steps[rank].append(Step("compute", seconds=time, **order, cpu=cpu))  # type: ignore[arg-type]

    for tag in range(random.randint(4, 30)):
        rank = random.randrange(ranks)
        if random.random() < 0.5:
            nic = random.randrange(nics)
            peer = (rank + 1 + (nic if partners else random.randrange(ranks)) % (ranks - 1)) % ranks
            nbytes = random.randint(1, 300_000)
            add(rank, "send", peer, tag, nbytes, nic)
            if not partners:
                nic = random.randrange(nics)
            add(peer, "recv", rank, tag, nbytes, nic)
        else:
            add(rank, "compute")
    return Schedule(ranks, steps, [{}] * ranks)


class Simulation:
    """The event loop: a heap of ends of computations and of messages, in nanoseconds."""

    def __init__(self, schedule: Schedule) -> None:
        self.steps, self.now, self.count = schedule.steps, 0, 0
        self.heap: list[tuple[int, int, str, int, int]] = []
        self.unmet = {(r, i): len({*s.after}) + len({*s.after_start}) for r, i, s in schedule}
        self.busy: set[tuple[int, int]] = set()
        self.queues: dict[tuple[int, int], deque[tuple[str, int]]] = defaultdict(deque)
        self.nic_free: dict[tuple[int, int], int] = defaultdict(int)
        self.arrived: dict[tuple[int, int], int] = {}  # by receiver and tag
        self.posted: dict[tuple[int, int], int] = {}  # receives, by receiver and tag
        self.ends = [0] * schedule.ranks
        roots = [each for each, unmet in self.unmet.items() if not unmet]
        self.ready = deque(roots)
        self.start_ready()
        while self.heap:
            self.now, _, what, rank, index = heappop(self.heap)
            if what == "computed":
                self.computed(rank, index)
            else:
                self.want(rank, "end", index)
            self.start_ready()

    def start_ready(self) -> None:
        """Start the steps that are ready, in the order in which they became ready."""
        while self.ready:
            rank, index = self.ready.popleft()
            self.want(rank, "start", index)

    def later(self, time: int, what: str, rank: int, index: int) -> None:
        self.count += 1
        heappush(self.heap, (time, self.count, what, rank, index))

    def want(self, rank: int, action: str, index: int) -> None:
        """Start or end a step, or let it wait for its cpu."""
        cpu = rank, self.steps[rank][index].cpu
        if cpu in self.busy:
            self.queues[cpu].append((action, index))
        elif action == "end":
            self.end(rank, index)
        else:
            self.start(rank, index)

    def start(self, rank: int, index: int) -> None:
        step = self.steps[rank][index]
        released = self.release(rank, index, "after_start")
        if step.kind == "compute":
            self.busy.add((rank, step.cpu))
            self.later(self.now + round(step.seconds * 1e9), "computed", rank, index)
        elif step.kind == "send":
            begin = max(self.now, self.nic_free[rank, step.nic])
            end = self.nic_free[rank, step.nic] = begin + LATENCY + step.nbytes
            self.later(end, "sent", rank, index)
            receiver = step.peer, step.tag
            self.arrived[receiver] = end
            if receiver in self.posted:
                self.later(end, "received", step.peer, self.posted[receiver])
        else:
            self.posted[rank, step.tag] = index
            if (rank, step.tag) in self.arrived:
                self.later(max(self.now, self.arrived[rank, step.tag]), "received", rank, index)
        self.ready.extend((rank, other) for other in released)

    def computed(self, rank: int, index: int) -> None:
        cpu = rank, self.steps[rank][index].cpu
        self.busy.remove(cpu)
        waiting, self.queues[cpu] = self.queues[cpu], deque()
        ready = [other for action, other in waiting if action == "start"]
        for ended in [*(other for action, other in waiting if action == "end"), index]:
            self.ends[rank] = max(self.ends[rank], self.now)
            ready += self.release(rank, ended, "after")
        self.ready.extend((rank, other) for other in ready)

    def end(self, rank: int, index: int) -> None:
        self.ends[rank] = max(self.ends[rank], self.now)
        self.ready.extend((rank, other) for other in self.release(rank, index, "after"))

    def release(self, rank: int, index: int, name: str) -> list[int]:
        """The steps that have waited for this one only, in their order."""
        found = []
        for other, step in enumerate(self.steps[rank]):
            if index in getattr(step, name):
                self.unmet[rank, other] -= 1
                if not self.unmet[rank, other]:
                    found.append(other)
        return found
