"""Random programs without a race have no finding, and one conflicting access more is found, with both places.

A program is a list of phases. Each phase has one kind of epoch, and gives each item of a rank a role: no rank uses it, one
rank writes it, some read it, some accumulate to it. Memory of a rank: `ITEMS` items with roles, `ITEMS` that are only read,
and for each rank `ITEMS` where only that rank puts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from random import Random
from re import findall
from typing import Any, NamedTuple

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.breadth import breadth

ITEMS = 3
EPOCHS = ("fence", "groups", "lock_all", "locks", "exclusive")
WRITES = ("Put", "store", "Get into it", "Irecv into it", "Recv into it")
READS = ("Get", "Put from it", "Send from it")


class Step(NamedTuple):
    """One access of a rank to an item of a target."""

    what: str
    rank: int
    target: int
    item: int


class Phase(NamedTuple):
    """An epoch, and its accesses; `intruder` is an additional one."""

    epoch: str
    steps: list[Step]
    intruder: Step | None = None


def some_phase(random: Random, ranks: int, epoch: str) -> Phase:
    """A phase without a race."""
    steps = []
    for target in range(ranks):
        for item in range(ITEMS):
            role = random.choice(["nothing", "written", "read", "accumulated"])
            if role == "written":
                what = random.choice(WRITES)
                rank = random.randrange(ranks) if what == "Put" else target
                steps.append(Step(what, rank, target, item))
            elif role == "read":
                for what in random.sample(READS, random.randint(1, 3)):
                    steps.append(Step(what, random.randrange(ranks) if what == "Get" else target, target, item))
            elif role == "accumulated":
                for rank in random.sample(range(ranks), random.randint(1, ranks)):
                    steps.append(Step("Accumulate", rank, target, item))
    random.shuffle(steps)
    if epoch == "exclusive":  # one target at a time: accesses of a rank to its own memory need no lock there
        steps = [step for step in steps if step.what in ("Put", "Get", "Accumulate", "store")]
    return Phase(epoch, steps)


class Program:
    """Executes phases on one rank."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.ranks = comm, comm.rank, comm.size
        self.memory = np.zeros(ITEMS * (2 + comm.size), "i4")
        self.win = MPI.Win.Create(self.memory, 4, comm=comm)
        self.group = self.win.Get_group()
        self.requests: list[Any] = []
        self.counter = 0

    def run(self, phases: list[Phase]) -> None:
        """All phases, in order; a barrier separates epochs of locks from others."""
        for phase in phases:
            getattr(self, phase.epoch)(phase)
        self.comm.Barrier()
        self.group.Free()
        self.win.Free()

    def work(self, phase: Phase) -> None:
        """The steps of this rank."""
        for step in phase.steps:
            self.exchange(step)
            if step.rank == self.rank:
                self.perform(step)
        if phase.intruder is not None and phase.intruder.rank == self.rank:
            self.intrude(phase.intruder)

    def finish(self) -> None:
        """Complete the requests."""
        MPI.Request.Waitall(self.requests)
        self.requests.clear()

    def exchange(self, step: Step) -> None:
        """The other end of a message: the next rank."""
        if step.what.startswith(("Irecv", "Recv", "Send")) and self.rank == (step.rank + 1) % self.ranks:
            tag = 100 * step.target + step.item
            if step.what.startswith("Send"):
                self.requests.append(self.comm.Irecv(np.zeros(1, "i4"), step.rank, tag))
            else:
                self.requests.append(self.comm.Isend(np.ones(1, "i4"), step.rank, tag))

    def perform(self, step: Step) -> None:
        """One step."""
        what, _, target, item = step
        own, local, tag = self.memory[item : item + 1], np.ones(1, "i4"), 100 * target + item
        after, before = (self.rank + 1) % self.ranks, (self.rank + 1) % self.ranks
        self.counter += 1
        if what in ("Put", "Get", "Accumulate"):
            getattr(self.win, what)(local, target, item)  # regular
        elif what == "store":
            own[0] = 1000 * (self.rank + 1) + self.counter
        elif what == "Get into it":
            self.win.Get(own, after, ITEMS + item)  # regular
        elif what == "Put from it":
            self.win.Put(own, after, ITEMS * (2 + self.rank) + item)  # regular
        elif what == "Irecv into it":
            self.requests.append(self.comm.Irecv(own, before, tag))  # regular
        elif what == "Recv into it":
            self.comm.Recv(own, before, tag)  # regular
        else:
            self.comm.Send(own, after, tag)  # regular

    def intrude(self, step: Step) -> None:
        """The conflicting access."""
        getattr(self.win, step.what)(np.full(1, 7, "i4"), step.target, step.item)  # intruder

    # -- epochs -------------------------------------------------------------------------------------------------------

    def fence(self, phase: Phase) -> None:
        """Between two fences."""
        self.win.Fence(MPI.MODE_NOPRECEDE)
        self.work(phase)
        self.finish()
        self.win.Fence(MPI.MODE_NOSUCCEED)

    def groups(self, phase: Phase) -> None:
        """Post, Start, Complete, Wait."""
        self.win.Post(self.group)
        self.win.Start(self.group)
        self.work(phase)
        self.finish()
        self.win.Complete()
        self.win.Wait()

    def lock_all(self, phase: Phase) -> None:
        """Shared locks of all ranks."""
        self.comm.Barrier()
        self.win.Lock_all()
        self.work(phase)
        self.finish()
        self.win.Unlock_all()
        self.comm.Barrier()

    def locks(self, phase: Phase) -> None:
        """A shared lock of each rank, one after another, held together; and a flush in between."""
        self.comm.Barrier()
        for target in range(self.ranks):
            self.win.Lock(target, MPI.LOCK_SHARED)
        self.work(phase)
        self.win.Flush_all()
        self.finish()
        for target in range(self.ranks):
            self.win.Unlock(target)
        self.comm.Barrier()

    def exclusive(self, phase: Phase) -> None:
        """An exclusive lock for each step: any steps may use the same item, also stores under a rank's own lock."""
        self.comm.Barrier()
        for step in phase.steps:
            if step.rank == self.rank:
                self.win.Lock(step.target)
                self.perform(step)
                self.win.Unlock(step.target)
        self.comm.Barrier()


def races(phases: list[Phase], ranks: int, **options: Any) -> list[Any]:
    """The findings of a program."""
    return fakempi.run(lambda comm: Program(comm).run(phases), ranks, check_buffers=True, **options).findings


def marked(text: str) -> set[str]:
    """The places of lines with a comment."""
    lines, start = inspect.getsourcelines(Program)
    numbers = [start + number for number, line in enumerate(lines) if line.rstrip().endswith(f"# {text}")]
    return {f"test_race_free.py:{number}" for number in numbers}


OPTIONS: list[dict[str, Any]] = [
    {}, {"seed": 1}, {"cost": fakempi.Hockney(1e-6, 1e-9)}, {"strict": True}, {"backend": "threads"},
]  # fmt: skip


def without_races(count: int, first: int) -> None:
    """Programs by number."""
    for number in range(first, first + count):
        random = Random(number)
        ranks = random.randint(2, 4)
        phases = [some_phase(random, ranks, random.choice(EPOCHS)) for _ in range(random.randint(1, 3))]
        found = races(phases, ranks, **OPTIONS[number % len(OPTIONS)])
        assert found == [], (number, phases, [str(one) for one in found])


def with_one_race(count: int, first: int) -> None:
    """The same with a conflicting access, in an epoch of fences or groups."""
    regular, intruding = marked("regular"), marked("intruder")
    tried = 0
    for number in range(first, first + count):
        random = Random(number)
        ranks = random.randint(2, 4)
        phase = some_phase(random, ranks, random.choice(["fence", "groups"]))
        # Complete may inform others that they have ended
        local = ("Get into it", "Put from it") if phase.epoch == "fence" else ()
        met = [step for step in phase.steps if step.what in ("Put", "Get", "Accumulate", *local)]
        if not met:
            continue
        victim = random.choice(met)
        clashing = {"Get": "Put", "Accumulate": random.choice(["Put", "Get"]), "Put from it": "Put"}.get(victim.what, "Put")
        rank = random.choice([one for one in range(ranks) if one != victim.rank])
        intruder = Step(clashing, rank, victim.target, victim.item)
        found = [one for one in races([phase._replace(intruder=intruder)], ranks) if one.kind == "window-race"]
        tried += 1
        places = [set(findall(r"test_race_free.py:\d+", str(one))) for one in found]
        context = number, phase, intruder, [str(one) for one in found]
        assert any(one & regular and one & intruding for one in places), context
        assert all(one & intruding for one in places), context
    assert tried > count // 2


def test_programs_without_a_race_have_no_finding() -> None:
    """For any epochs."""
    without_races(60, 0)


def test_one_conflicting_access_is_found_and_both_places_are_named() -> None:
    """Either of the two may be first."""
    with_one_race(60, 0)


@pytest.mark.slow
@pytest.mark.parametrize("check", [without_races, with_one_race])
def test_the_same_on_more_programs(check: Callable[[int, int], None]) -> None:
    """With other seeds."""
    check(breadth(200, 700), 1000)
