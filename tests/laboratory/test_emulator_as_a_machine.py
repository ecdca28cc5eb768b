"""The emulator as a machine: what it says of a run, and what it does with one that fails."""

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
from collectives.tools.blocks import scratch
from collectives.verification import machine as machines
from collectives.verification.machine import Message, NoMachine, Outcome, Setting
from collectives.verification.trial import attempt
from fakempi import MPI
from fakempi.laboratory import Emulator
from tests.leftovers import new_threads

CARRIERS = ["greenlets", "threads"]


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """With its watch."""
    with Emulator() as machine:
        yield machine


def passing_on(comm: Any) -> None:
    """Rank 0 sends three bytes to rank 1, and that five to rank 2."""
    three, five = np.zeros(3, np.uint8), np.zeros(5, np.uint8)
    match comm.Get_rank():
        case 0:
            comm.Send(three, 1)
        case 1:
            comm.Recv(three, 0)
            comm.Send(five, 2)
        case 2:
            comm.Recv(five, 1)


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_run_is_told_in_numbers(emulator: Emulator, carrier: str) -> None:
    """By rank, and, if asked for, message by message."""
    setting = Setting(t_s=10, t_w=2, carrier=carrier)
    assert emulator.run(passing_on, 3, 0, setting) == Outcome(36, (1, 1, 0), (3, 5, 0), [], [])
    traced = emulator.run(passing_on, 3, 0, setting, trace=True)
    assert traced.transfers == [Message(0, 1, 3, 0, 16), Message(1, 2, 5, 16, 36)]


@pytest.mark.parametrize("eager_limit", [0, 64])
def test_what_is_left_over_is_told(emulator: Emulator, eager_limit: int) -> None:
    """A message that nobody received, a receive that nothing came for."""

    def main(comm: Any) -> None:
        if comm.Get_rank() == 0:
            comm.Isend(np.zeros(3, np.uint8), 1, 5)
        else:
            comm.Irecv(np.zeros(3, np.uint8), 0, 6)

    assert emulator.run(main, 2, 0, Setting(eager_limit=eager_limit)).left == [
        "a message of 3 bytes to rank 1 was never received",
        "rank 1 has posted a receive that no message came for",
    ]


def test_two_groups_are_numbered_through(emulator: Emulator) -> None:
    """Those of A first; what is left between them or within one is seen too."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        if in_a:
            inter.Send(np.zeros(2, np.uint8), local.Get_rank())
        else:
            inter.Recv(np.zeros(2, np.uint8), local.Get_rank())
            local.Isend(np.zeros(1, np.uint8), 0)

    outcome = emulator.run(main, 2, 2, Setting(), trace=True)
    assert outcome.messages == (1, 1, 0, 0)
    assert [(each.source, each.dest) for each in outcome.transfers] == [(0, 2), (1, 3)]
    assert outcome.left == ["a message of 1 bytes to rank 2 was never received"] * 2


def test_a_failure_is_an_outcome(emulator: Emulator) -> None:
    """With what led to it."""

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


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("program", [computing, sending, sleeping])
def test_a_run_that_does_not_end_is_stopped(carrier: str, program: Callable[[Any], None]) -> None:
    """And the next one is none the worse for it; no thread is left."""
    before = threading.enumerate()
    with Emulator(patience=0.1) as hasty:
        failure = hasty.run(program, 2, 0, Setting(carrier=carrier)).failure
        assert failure is not None
        assert (failure.kind, failure.report) == ("endless", "it was stopped after 0.1 seconds of computing")
    with Emulator() as patient:
        assert patient.run(passing_on, 3, 0, Setting(carrier=carrier)).failure is None
    assert new_threads(before) == []


def test_nothing_is_left_of_the_watch() -> None:
    """It is there while it is needed."""
    before = threading.enumerate()
    with Emulator() as emulator:
        assert [thread for thread in threading.enumerate() if thread not in before] == [emulator.watch]
    assert new_threads(before) == []


@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_rank_has_its_own_scratch_meter(emulator: Emulator, carrier: str) -> None:
    """Though all are in one process, and take turns while they hold it."""
    gather = find("gather", "binomial")
    trial = attempt(gather, collectives.Case(5, 8), emulator, Setting(carrier=carrier))
    assert [finding.scratch for finding in trial.findings] == [gather.scratch(collectives.Case(5, 8), r) for r in range(5)]
    assert {finding.scratch for finding in trial.findings} == {0, 16, 8} - {8}
    scratch(np.zeros(1), 3)  # nobody listens


def test_the_emulator_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which the project file has; where there is none, a sentence says what to do."""
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    (line,) = project.split('[project.entry-points."collectives.machines"]\n')[1].splitlines()[:1]
    name, _, value = line.replace('"', "").partition(" = ")
    offered = [EntryPoint(name, value, "collectives.machines")]
    monkeypatch.setattr(machines, "entry_points", lambda *, group: offered if group == "collectives.machines" else [])
    assert isinstance(machines.found_machine(), Emulator)
    assert collectives.verify(find("barrier", "linear"), ranks=2) == []
    offered.clear()
    words = (
        r"^verify needs a machine to run algorithms on, and no installed package offers one .*: install fakempi, or hand one"
    )
    with pytest.raises(NoMachine, match=words):
        collectives.verify(find("barrier", "linear"))


def test_the_module_of_ops_is_the_emulators() -> None:
    """So that combining costs what it costs there."""
    assert Emulator().MPI is MPI
