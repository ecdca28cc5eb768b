"""A rank that waits for another in a loop without MPI calls is reported, once, with its line."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.extensions.monitoring import busy_waiting, monitor
from tests.isolation.harness import Capture


@pytest.fixture(autouse=True)
def _low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((busy_waiting, "LIMIT", 0.3), (busy_waiting, "LOOKS", 5), (monitor, "PAUSE", 0.01)):
        monkeypatch.setattr(module, name, value)


def polls(comm: Any, view: Callable[[Any], Any]) -> None:
    """Rank 0 waits for a flag that rank 1 sets, but rank 1 never runs."""
    win = MPI.Win.Allocate_shared(8, 1, comm=comm)
    flag = view(win.Shared_query(0)[0])
    comm.Barrier()
    if comm.rank == 1:
        comm.recv(source=0)
        flag[0] = 1
    else:
        comm.send(None, 1)
        while flag[0] == 0:
            pass


@pytest.mark.quick(1)
@pytest.mark.parametrize("view", [lambda memory: memory, lambda memory: np.frombuffer(memory, "i8")], ids=["bytes", "array"])
def test_a_rank_that_polls_memory_is_reported_with_its_line(
    backend: Any, view: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It continues until the time limit ends the run. Reading an array is no call, so all observations are at one jump."""
    fakempi.run(lambda comm: comm.Barrier(), 2)  # it imports its dependencies
    stream = StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    # The time limit expires as soon as there is a report, which takes long on a busy machine.
    monkeypatch.setattr(monitor, "monotonic", lambda: time.monotonic() + (1000 if stream.getvalue() else 0))
    with pytest.raises(fakempi.RunTimeoutError):
        fakempi.run(polls, 2, view, backend=backend, timeout=250)
    error = stream.getvalue()
    words = r"rank 0 has run for \d s without a call that lets other ranks run, at test_busy_waiting.py:(\d+)\."
    (line,) = re.findall(words, error)
    assert int(line) - polls.__code__.co_firstlineno in (10, 11), error


def computes(comm: Any) -> None:
    """Many lines of several functions."""
    end = time.monotonic() + 0.6
    while time.monotonic() < end:
        for function in (some_work, more_work):
            function()
    comm.Barrier()


def some_work() -> int:
    """Some work."""
    total = 0
    for i in range(2000):
        total += i
    return total


def more_work() -> list[int]:
    """Other work."""
    numbers = []
    for i in range(2000):
        numbers.append(i % 7)
    return sorted(numbers)


def sleeps(comm: Any) -> None:
    """One long call."""
    time.sleep(0.6)
    comm.Barrier()


def counts(comm: Any) -> None:
    """One line, without calls, that ends."""
    total = 0
    for i in range(20_000_000): total += i  # noqa: E701
    comm.Barrier()


def single_rank(comm: Any) -> None:
    """There is no other rank."""
    end = time.monotonic() + 0.6
    while time.monotonic() < end:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "ranks"), [(computes, 2), pytest.param(sleeps, 2, marks=pytest.mark.sample), (counts, 2), (single_rank, 1)]
)
def test_ranks_that_compute_or_are_alone_are_not_reported(
    function: Callable[[Any], None], ranks: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a report would be wrong."""
    monkeypatch.setattr(busy_waiting, "LOOKS", 25)  # five looks on a busy machine may find the same function by chance
    fakempi.run(function, ranks, timeout=60)
    assert "has run for" not in capsys.readouterr().err
