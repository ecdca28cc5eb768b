"""Verification in bounded time: large schedules, limits, and the same verdicts as the first verifier, which was slower."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest

from collectives import Case, UnsupportedCaseError, find
from collectives.schedules import Fault, Range, Schedule, Step, record, work
from collectives.schedules.errors import InvalidScheduleError, VerificationTimeoutError
from collectives.schedules.monitor import limited
from collectives.schedules.ordering import causality
from collectives.schedules.work import estimate
from fakempi.apps.cli import main
from tests.cli.test_running import Capture
from tests.collectives.schedules.random_programs import random_schedule


def test_a_schedule_that_would_take_all_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is recorded, run or verified; an error of an algorithm's own schedule is no reason."""
    ring, case = find("allgather", "ring"), Case(8, 64)
    schedule = record(ring, case)
    monkeypatch.setattr(work, "MEMORY", 50 * 800)
    assert not record(find("bcast", "binomial"), case).verify()
    for refused in (lambda: schedule.verify(), lambda: work.check_run(schedule)):
        with pytest.raises(InvalidScheduleError, match=r"^120 steps need about 0 GiB of memory, more than 0 GiB; use a "):
            refused()
    monkeypatch.setattr(work, "MEMORY", 50 * 660)
    with pytest.raises(UnsupportedCaseError, match="it has at least 56 messages, more than 50; use fewer ranks or another"):
        record(ring, case)
    assert len(record(replace(ring, schedule=lambda case: 1 // 0), case).steps) == 8


def test_random_schedules_have_the_faults_that_the_first_verifier_found() -> None:
    """It kept the contents of each chunk as an object, and compared all pairs of accesses to the same bytes."""
    lines = Path(__file__).with_name("verdicts.txt").read_text().splitlines()[1:]
    assert len(lines) == 300
    for line in lines:
        seed, number, checksum, kind = line.split()
        faults = random_schedule(int(seed)).verify()
        records = "\n".join(map(repr, faults))
        assert (len(faults), faults[0].kind if faults else "ok") == (int(number), kind), seed
        assert f"{crc32(records.encode()):08x}" == checksum, seed


def test_scratch_memory_that_is_used_in_every_round() -> None:
    """3,120 messages, and 40 accesses of each rank to the same bytes: on 64 ranks, the first verifier gave up."""
    ring = record(find("allreduce", "ring"), Case(p=40, m=320))
    assert ring.verify() == []
    steps = list(ring.steps[9])
    last = next(index for index in reversed(range(len(steps))) if steps[index].kind == "reduce")
    steps[last] = replace(steps[last], after=steps[last - 1].after)  # it no longer waits for the message that it combines
    wrong = replace(ring, steps=[steps if rank == 9 else one for rank, one in enumerate(ring.steps)])
    assert {(fault.kind, fault.rank) for fault in wrong.verify()} == {("order", 9), ("race", 9)}


def test_long_messages_of_odd_sizes() -> None:
    """Blocks of 15,625 and 15,626 bytes: contents are intervals, not chunks of one byte."""
    assert record(find("allreduce", "ring"), Case(p=16, m=250_003)).verify() == []


def test_data_that_are_combined_again_and_again_are_refused() -> None:
    """The number of contributions doubles with each step."""
    place = Range("input", 0, 1)
    double = [Step("reduce", source=place, target=place, after=(index - 1,) if index else ()) for index in range(60)]
    last = Step("copy", source=place, target=Range("output", 0, 1), after=(59,))
    schedule = Schedule(1, [[*double, last]], [{"input": 1, "output": 1}])
    with pytest.raises(InvalidScheduleError, match="combines the same data again and again"):
        schedule.verify("broadcast")


def ordered_by_another_rank(rounds: int) -> Schedule:
    """Rank 0 writes the same bytes in two sequences of steps, in turn; messages to rank 1 and back order the writes."""
    sequences, relay = [list[Step](), list[Step]()], list[Step]()
    write = Step("copy", source=Range("input", 0, 4), target=Range("scratch", 0, 4))
    for turn in range(2 * rounds):
        steps = sequences[turn % 2]
        for step in ([Step("recv", 1, turn)] if turn else []) + [write, Step("send", 1, turn + 1)]:
            steps.append(replace(step, after=(len(steps) - 1,) if steps else ()))
        relay.append(Step("recv", 0, turn + 1, after=(len(relay) - 1,) if relay else ()))
        if turn < 2 * rounds - 1:
            relay.append(Step("send", 0, turn + 1, after=(len(relay) - 1,)))
    first, second = sequences
    moved = [replace(step, after=tuple(index + len(first) for index in step.after)) for step in second]
    return Schedule(2, [first + moved, relay], [{"input": 4, "scratch": 4}, {}], operation="")


def test_steps_that_messages_of_another_rank_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with so little memory that vector clocks are computed for one chain at a time."""
    schedule = ordered_by_another_rank(20)
    early = [replace(step, after=()) if index == 1 else step for index, step in enumerate(schedule.steps[1])]
    wrong = replace(schedule, steps=[schedule.steps[0], early])  # rank 1 answers before it has received

    def races() -> tuple[list[Fault], list[Fault]]:
        found, others = schedule.verify("barrier"), wrong.verify("barrier")
        return [fault for fault in found if fault.kind == "race"], [fault for fault in others if fault.kind == "race"]

    expected = races()
    assert not expected[0]
    assert expected[1]
    steps = sum(map(len, schedule.steps))
    for entries in (steps, 2 * steps, 8):  # room for one chain, for two; and for none, so that a search answers
        monkeypatch.setattr(causality, "MAX_ENTRIES", entries)
        assert races() == expected


def test_the_time_is_limited() -> None:
    ring = record(find("allreduce", "ring"), Case(p=16, m=64))
    stages: list[str] = []
    assert ring.verify(monitor=limited(3600, lambda stage, done, total: stages.append(stage))) == []
    assert [*dict.fromkeys(stages)] == ["messages", "races", "contents", "outputs"]
    with pytest.raises(VerificationTimeoutError, match=r"limit of 1e-09 s .* while messages were checked \(0 of 1,"):
        ring.verify(monitor=limited(1e-9))


def test_the_estimate_grows_with_the_steps() -> None:
    small, large = (estimate(record(find("allreduce", "ring"), Case(p=p, m=8 * p))) for p in (8, 32))
    assert large[0] > 10 * small[0]
    assert large[1] > 10 * small[1]


def test_the_command_says_what_it_needs_and_stops(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["schedule", "verify", "allreduce/ring", "-n", "16", "--bytes", "128"]
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""  # a short verification needs no words
    monkeypatch.setattr("fakempi.apps.cli.schedules.limits.LONG", 0)
    assert main([*arguments, "--seconds", "1e-9"]) == 2
    text = capsys.readouterr().err
    assert "verifying 1,216 steps: about 55 ms, at most " in text
    assert "not verified: the limit of 1e-09 s was reached while messages were checked" in text
