"""Snapshots of Python objects: every reachable change is noticed, so a loop with a counter anywhere is not a livelock."""

import functools
import itertools
import random
import threading
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.diagnostics.snapshot import Opaque, snapshot


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("__hidden", "count")

    def __init__(self) -> None:
        self.count = self.__hidden = 0

    def grow(self) -> int:
        """Change an attribute that only the class can name."""
        self.__hidden += 1
        return self.__hidden


@dataclass
class Plain:
    """An object with a dictionary, and a variable of the class."""

    count: int = 0
    shared: ClassVar[list[int]] = [0]


class Kind(list):  # type: ignore[type-arg]
    """A container with attributes."""


TOTAL = 0


def rebinds() -> int:
    """Rebind a global variable."""
    global TOTAL
    TOTAL += 1
    return TOTAL


def calls_another() -> int:
    """Name a function that names the variable."""
    return rebinds()


def counter_in_a_closure() -> Any:
    """A function with state."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return count

    return tick


def with_default(counts: list[int] = [0]) -> int:  # noqa: B006
    """State in a default argument."""
    counts[0] += 1
    return counts[0]


def changes() -> list[tuple[str, Any, Any]]:
    """Values that a program may hold, and a change of each."""
    nested: Any = {"a": [({"b": [0]},)]}
    long, array, objects = [[0] for _ in range(200)], np.zeros(100_000), np.array([[1], None], dtype=object)
    slotted, plain, kind = Slotted(), Plain(), Kind()
    defaults: defaultdict[str, list[int]] = defaultdict(list)
    counted, line = Counter("a"), deque([1])
    generator, numbers, drawn = np.random.default_rng(1), random.Random(1), (i for i in itertools.repeat(1))
    lock, again, event = threading.Lock(), threading.RLock(), threading.Event()
    cached, tick = functools.lru_cache(lambda x: x), counter_in_a_closure()
    assert next(drawn) == 1
    return [
        ("nested", nested, lambda: nested["a"][0][0]["b"].append(1)), ("long", long, lambda: long[150].append(1)),
        ("array", array, lambda: array.__setitem__(77_777, 1)), ("objects", objects, lambda: objects[0].append(1)),
        ("slots", slotted, lambda: setattr(slotted, "count", 1)), ("private slot", slotted, slotted.grow),
        ("dataclass", plain, lambda: setattr(plain, "count", 1)), ("class variable", plain, lambda: Plain.shared.append(1)),
        ("new class variable", Plain, lambda: setattr(Plain, "more", 1)), ("subclass", kind, lambda: kind.append(1)),
        ("attribute", kind, lambda: setattr(kind, "name", 1)), ("Counter", counted, lambda: counted.update("b")),
        ("defaultdict", defaults, lambda: defaults["new"]), ("deque", line, lambda: line.rotate()),
        ("numpy generator", generator, generator.random), ("random", numbers, numbers.random),
        ("lock", lock, lock.acquire), ("reentrant lock", again, again.acquire), ("event", event, event.set),
        ("cache", cached, lambda: cached(1)), ("closure", tick, tick), ("default argument", with_default, with_default),
        ("global variable", rebinds, rebinds), ("through another function", calls_another, rebinds),
        ("partial", functools.partial(rebinds), rebinds), ("method", slotted.grow, slotted.grow),
        ("lambda", lambda: calls_another(), rebinds), ("set", (items := {1, "a"}), lambda: items.add(2)),
        ("bytearray", (raw := bytearray(3)), lambda: raw.append(1)),
    ]  # fmt: skip


def test_every_reachable_change_is_noticed_and_nothing_else() -> None:
    """Two snapshots are equal until something changes."""
    for name, value, change in changes():
        kept: list[Any] = []
        before = snapshot([value], kept)
        assert snapshot([value], kept) == before, name
        change()
        if name == "deque":
            value.append(1)
        assert snapshot([value], kept) != before, name


def test_incomparable_objects_are_not_equal() -> None:
    """Iterators, files, and functions that reach objects by name."""
    with open(__file__) as file:
        for value in (itertools.count(), iter([1]), file, lambda: globals()["TOTAL"], lambda: eval("TOTAL")):
            with pytest.raises(Opaque):
                snapshot([value])


def test_installed_packages_and_plain_values_are_cheap() -> None:
    """A program that uses numpy does not include numpy in the snapshot."""

    def main(comm: Any) -> Any:
        return np.linalg.norm(np.ones(3)), MPI.SUM, Fraction(1, 3), threading.local

    assert len(snapshot([main])) < 50


def counts_with(tick: Any, comm: Any) -> None:
    """A polling loop that does something else after the 1,500th unsuccessful test."""
    if comm.rank == 0:
        request = comm.irecv(source=1)
        while not request.test()[0]:
            if tick() == 1500:
                comm.send(None, 1)
    else:
        comm.recv(source=0)
        comm.send(None, 0)


@pytest.mark.parametrize("where", ["closure", "default argument", "global variable", "private slot", "nested", "long", "C"])
def test_a_loop_with_a_hidden_counter_is_no_livelock(where: str) -> None:
    """It was once reported after 1,000 tests: the variables of the loop itself are the same each time."""
    global TOTAL
    TOTAL, with_default.__defaults__ = 0, ([0],)
    nested, long, counted = {"a": {"b": {"c": {"d": [0]}}}}, [[0] for _ in range(200)], itertools.count(1)

    def deep() -> int:
        nested["a"]["b"]["c"]["d"][0] += 1
        return nested["a"]["b"]["c"]["d"][0]

    def wide() -> int:
        long[150][0] += 1
        return long[150][0]

    ticks = {
        "closure": counter_in_a_closure(), "default argument": with_default, "global variable": calls_another,
        "private slot": Slotted().grow, "nested": deep, "long": wide, "C": lambda: next(counted),
    }  # fmt: skip
    run = fakempi.run(lambda comm: counts_with(ticks[where], comm), 2)
    assert run.messages == 2
    assert ticks[where]() > 1500
