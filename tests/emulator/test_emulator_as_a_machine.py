"""The emulator as a machine for verification: outcomes of runs, and failures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import collectives
from collectives import find
from collectives.tools.blocks import spare_memory
from collectives.verification import machine as machines
from collectives.verification.case_run import run_case
from collectives.verification.machine import NoMachineError, RunMessage, RunOutcome, Setting
from fakempi import MPI
from fakempi.apps.emulator import Emulator
from tests.helpers.leftovers import new_threads

BACKENDS = ["greenlets", "threads"]


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """An emulator with its watchdog thread."""
    with Emulator() as machine:
        yield machine


def passing_on(comm: Any) -> None:
    """Rank 0 sends three bytes to rank 1, which sends five bytes to rank 2."""
    three, five = np.zeros(3, np.uint8), np.zeros(5, np.uint8)
    match comm.Get_rank():
        case 0:
            comm.Send(three, 1)
        case 1:
            comm.Recv(three, 0)
            comm.Send(five, 2)
        case 2:
            comm.Recv(five, 1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_outcome_has_time_messages_and_bytes(emulator: Emulator, backend: Any) -> None:
    """By rank, and with a trace by message."""
    setting = Setting(t_s=10, t_w=2, backend=backend)
    assert emulator.run(passing_on, 3, 0, setting) == RunOutcome(36, (1, 1, 0), (3, 5, 0), [], [])
    traced = emulator.run(passing_on, 3, 0, setting, trace=True)
    assert traced.transfers == [RunMessage(0, 1, 3, 0, 16), RunMessage(1, 2, 5, 16, 36)]


@pytest.mark.parametrize("eager_limit", [0, 64])
def test_unmatched_messages_and_receives_are_reported(emulator: Emulator, eager_limit: int) -> None:
    """A message without a receive, and a receive without a message."""

    def main(comm: Any) -> None:
        if comm.Get_rank() == 0:
            comm.Isend(np.zeros(3, np.uint8), 1, 5)
        else:
            comm.Irecv(np.zeros(3, np.uint8), 0, 6)

    assert emulator.run(main, 2, 0, Setting(eager_limit=eager_limit)).unmatched == [
        "a message of 3 bytes to rank 1 was not received",
        "a receive of rank 1 matched no message",
    ]


def test_the_ranks_of_two_groups_are_numbered_consecutively(emulator: Emulator) -> None:
    """The ranks of A come first; unmatched messages within and between groups are reported."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        if in_a:
            inter.Send(np.zeros(2, np.uint8), local.Get_rank())
        else:
            inter.Recv(np.zeros(2, np.uint8), local.Get_rank())
            local.Isend(np.zeros(1, np.uint8), 0)

    outcome = emulator.run(main, 2, 2, Setting(), trace=True)
    assert outcome.messages == (1, 1, 0, 0)
    assert [(each.source, each.dest) for each in outcome.transfers] == [(0, 2), (1, 3)]
    assert outcome.unmatched == ["a message of 1 byte to rank 2 was not received"] * 2


def test_a_failure_is_part_of_the_outcome(emulator: Emulator) -> None:
    """With the messages before it."""

    def stuck(comm: Any) -> None:
        passing_on(comm)
        comm.Recv(np.zeros(1), 0)

    def failing(comm: Any) -> None:
        if comm.Get_rank() == 2:
            raise ValueError("no")

    def polling(comm: Any) -> None:
        while not comm.Iprobe():
            pass

    outcome = emulator.run(stuck, 3, 0, Setting(), trace=True)
    assert outcome.failure is not None
    assert outcome.failure.kind == "deadlock"
    assert outcome.failure.report.startswith("deadlock at t = ")
    assert len(outcome.transfers) == 2
    failure = emulator.run(failing, 3, 0, Setting()).failure
    assert failure is not None
    assert (failure.kind, failure.rank, str(failure.error)) == ("error", 2, "no")
    failure = emulator.run(polling, 2, 0, Setting()).failure
    assert failure is not None
    assert failure.kind == "livelock"


def computing(comm: Any) -> None:
    while comm.Get_rank() == 1:
        pass


def sending(comm: Any) -> None:
    while True:
        comm.Sendrecv(np.zeros(1), 1 - comm.Get_rank(), 0, np.zeros(1), 1 - comm.Get_rank(), 0)


def sleeping(comm: Any) -> None:
    while True:
        threading.Event().wait(0.01)


@pytest.mark.quick(1)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", [computing, sending, sleeping])
def test_a_run_that_does_not_end_is_stopped(backend: Any, program: Callable[[Any], None]) -> None:
    """The next run works, and no thread remains."""
    before = threading.enumerate()
    with Emulator(limit=0.1) as hasty:
        failure = hasty.run(program, 2, 0, Setting(backend=backend)).failure
        assert failure is not None
        assert (failure.kind, failure.report) == ("timeout", "stopped after 0.1 seconds of CPU time")
    with Emulator() as patient:
        assert patient.run(passing_on, 3, 0, Setting(backend=backend)).failure is None
    assert new_threads(before) == []


def test_the_watchdog_thread_ends_with_the_context() -> None:
    """It exists within `with`."""
    before = threading.enumerate()
    with Emulator() as emulator:
        assert [thread for thread in threading.enumerate() if thread not in before] == [emulator.watchdog]
    assert new_threads(before) == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_rank_has_its_own_scratch_meter(emulator: Emulator, backend: Any) -> None:
    """All ranks run in one process."""
    gather = find("gather", "binomial")
    run = run_case(gather, collectives.Case(5, 8), emulator, Setting(backend=backend))
    assert [result.scratch for result in run.results] == [gather.scratch(collectives.Case(5, 8), r) for r in range(5)]
    assert {result.scratch for result in run.results} == {0, 16, 8} - {8}
    spare_memory(np.zeros(1), 3)  # no meter is set


def test_the_emulator_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """pyproject.toml has the entry point; without it, the error message gives the alternatives."""
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    (line,) = project.split('[project.entry-points."collectives.machines"]\n')[1].splitlines()[:1]
    name, _, value = line.replace('"', "").partition(" = ")
    offered = [EntryPoint(name, value, "collectives.machines")]
    monkeypatch.setattr(machines, "entry_points", lambda *, group: offered if group == "collectives.machines" else [])
    assert isinstance(machines.installed_machine(), Emulator)
    assert collectives.verify(find("barrier", "linear"), ranks=2) == []
    offered.clear()
    message = (
        r"^verify needs a machine to run algorithms on, and no installed package provides one .*\. Install fakempi, or "
    )
    with pytest.raises(NoMachineError, match=message):
        collectives.verify(find("barrier", "linear"))


def test_the_module_of_ops_is_the_emulators() -> None:
    """Combining then has the emulator's cost."""
    assert Emulator().MPI is MPI
