"""Verification finds mistakes in the smallest case, and accepts the same algorithms without the mistakes."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest

import collectives
from collectives import Algorithm, Case, algorithm, find
from collectives.verification.counterexample import Counterexample
from fakempi.apps.emulator import Emulator
from tests.collectives.verification.mutants import MUTANTS, RING, STAR, Mutant


@pytest.fixture(autouse=True)
def _time_to_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the smallest case is not found on a busy machine."""
    monkeypatch.setattr("collectives.verification.sweep.SHRINKING_SECONDS", 250.0)


def counterexamples_of(algorithm: Algorithm, time_limit: float = 10.0, **options: Any) -> list[Counterexample]:
    """Return the counterexamples on few ranks, which is fast."""
    return collectives.verify(algorithm, Emulator(time_limit), **{"ranks": 4, "cases": 12, **options})


@pytest.mark.quick(3)
@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=list(MUTANTS))
def test_a_mistake_is_found_in_the_smallest_case(mutant: Mutant) -> None:
    """The counterexample has the right kind and the smallest number of ranks."""
    counterexamples = counterexamples_of(mutant.wrong)
    assert (mutant.kind, mutant.p) in [(each.kind, each.p) for each in counterexamples]
    ranks = [each.case.ranks for each in counterexamples]
    assert ranks == sorted(ranks)


@pytest.mark.slow
@pytest.mark.parametrize("correct", {id(each.correct): each.correct for each in MUTANTS.values()}.values(), ids=repr)
def test_the_algorithms_without_mistakes_pass(correct: Algorithm) -> None:
    """The counterexamples of the mutants are due to their mistakes."""
    assert counterexamples_of(correct) == []


def test_an_algorithm_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU time limit stops it, and no other case is run."""
    monkeypatch.setattr("fakempi.apps.emulator.WALL_CLOCK_FACTOR", 1000)  # other cases may take long on a busy machine

    def run(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
        while comm.Get_size() > 1:
            pass

    (only,) = counterexamples_of(replace(STAR, run=run), time_limit=0.2)
    assert (only.kind, only.p) == ("timeout", 2)
    assert str(only).splitlines()[0] == "bcast star, timeout: the run did not finish within the time limit"
    assert "stopped after 0.2 seconds of CPU time" in str(only)


def test_a_barrier_that_does_not_wait_is_found() -> None:
    """Either the run or the schedule shows that a rank leaves before the last rank enters."""
    barrier = find("barrier", "linear")
    silent = replace(barrier, run=lambda comm, *, tag=0: None, schedule=None, closed_rounds=None, closed_time=None)
    assert [(each.kind, each.p) for each in counterexamples_of(replace(silent, closed_sent=None))] == [("result", 2)]
    (empty, *_) = counterexamples_of(replace(barrier, schedule=lambda case: []))
    assert (empty.kind, empty.p) == ("schedule", 2)
    assert "by the schedule, rank 0 leaves the barrier without any message that depends on rank 1" in str(empty)


@pytest.mark.sample
@pytest.mark.slow
def test_mistakes_between_groups_are_found() -> None:
    """The counterexample has the sizes of both groups."""
    bcast = find("bcast", "wmpi", kind="inter")

    def run(inter: Any, local: Any, *args: Any, **options: Any) -> None:
        if local.Get_size() != 3:
            bcast.run(inter, local, *args, **options)

    counterexamples = counterexamples_of(replace(bcast, run=run), cases=30)
    assert counterexamples[0].case.ranks == 4
    assert {each.kind for each in counterexamples} >= {"deadlock"}
    claims_less = replace(bcast, closed_time=lambda case, t_s, t_w: 0, closed_combined=lambda case: 0)
    (only,) = counterexamples_of(claims_less, cases=30)
    assert (only.kind, only.p, only.case.q, only.case.m) == ("time", 1, 1, 1)


def test_mistakes_of_sorts_and_splits_are_found() -> None:
    """Both their return values and the number of items held are checked."""
    sort, split = find("sort", "bitonic", kind="chain"), find("split", "bitonic")

    def unsorted(chain: Any, item: bytes, **options: Any) -> bytes:
        sort.run(chain, item, **options)
        return item

    assert ("result", 2) in [(each.kind, each.p) for each in counterexamples_of(replace(sort, run=unsorted))]
    assert [(each.kind, each.p) for each in counterexamples_of(replace(sort, holds=lambda case: 3))] == [("holds", 2)]
    together = replace(split, run=lambda comm, color, key, **options: split.run(comm, None, key, **options))
    counterexamples = counterexamples_of(together)
    assert [(each.kind, each.p) for each in counterexamples] == [("result", 2)]
    assert "colors" in str(counterexamples[0])


def test_an_algorithm_that_rejects_every_case_does_not_pass() -> None:
    """Otherwise an algorithm without any accepted case would be correct."""
    (only, *_) = counterexamples_of(replace(STAR, why_unsupported=lambda case: "not today"))
    assert only.kind == "fits"
    (first, *_) = counterexamples_of(replace(STAR, run=refusing, why_unsupported=lambda case: "not today"))
    assert "why_unsupported() rejects every case" in first.summary


def refusing(comm: Any, buf: Any, **options: Any) -> None:
    raise collectives.UnsupportedCaseError("not today")


def test_the_report_has_the_numbers_the_case_and_the_round() -> None:
    """The example omits the last of three ranks."""
    first = counterexamples_of(MUTANTS["omits the last rank if p is not a power of two"].wrong)[0]
    assert str(first).splitlines() == [
        "bcast star, result: rank 2: element 0 is 255, expected 1 (1 of 1 wrong)",
        "smallest case: p = 3, m = 1 byte, root 0; t_s = 1000, t_w = 1, no buffering",
        "    first difference between schedule and run: round 2",
        "    rank   claimed       actual",
        "    0      1 byte to 2   nothing   <",
        "    1      nothing       nothing",
        "    2      nothing       nothing",
        "    rank   expected   actual",
        "    2      1          255",
    ]
    assert (first.claimed, first.actual, first.case) == ("1", "255", Case(3, 1))


def test_the_report_shows_start_times_that_differ() -> None:
    """The messages are the same, but one starts later than in the schedule."""
    (late,) = [each for each in counterexamples_of(MUTANTS["serializes an exchange"].wrong) if each.kind == "time"]
    assert str(late).splitlines() == [
        "allgather own_ring, time: the run takes 2002 seconds of modeled time, but the closed form claims 1001 "
        "(the schedule claims 1001)",
        "smallest case: p = 2, m = 1 byte; t_s = 1000, t_w = 1, no buffering",
        "    first difference between schedule and run: round 1",
        "    rank   claimed            actual",
        "    0      1 byte to 1        1 byte to 1",
        "    1      1 byte to 0 at 0   1 byte to 0 at 1001   <",
    ]
    assert (late.claimed, late.actual) == (1001, 2002)


def test_the_report_distinguishes_closed_form_and_schedule() -> None:
    """All messages match the schedule, so the report shows when its rounds end."""
    (only,) = counterexamples_of(MUTANTS["claims too few rounds"].wrong)
    assert str(only).splitlines() == [
        "bcast star, rounds: the run takes 3 rounds, but the closed form claims 2 (the schedule claims 3)",
        "smallest case: p = 4, m = 1 byte, root 0; t_s = 1, t_w = 0, no buffering",
        "    all messages of the run match the schedule, whose rounds end at these times:",
        "    round   messages   end",
        "    1       1          1",
        "    2       1          2",
        "    3       1          3",
    ]


def test_the_report_of_a_deadlock_shows_the_cycle() -> None:
    """It contains the machine's report."""
    (only,) = counterexamples_of(replace(MUTANTS["relies on buffering"].wrong))
    lines = str(only).splitlines()
    assert lines[0] == "allgather own_ring, deadlock: all unfinished ranks are blocked"
    assert "    1      1 byte to 0   nothing   <" in lines
    assert "      cycle: 0 → 1 → 0" in lines


def test_the_report_of_an_exception_has_file_and_line() -> None:
    """The line is in the algorithm's file."""
    (only,) = [each for each in counterexamples_of(MUTANTS["raises"].wrong) if each.kind == "error"]
    assert only.summary.startswith("bcast star, error: rank 0 raised RuntimeError: four is too many at mutants.py:")
    assert isinstance(only.actual, RuntimeError)


def test_the_report_of_an_exception_of_a_declared_algorithm_has_its_line() -> None:
    """The line is that of the function, although the decorator checks the case before it."""

    @algorithm(why_unsupported=lambda case: None if case.p > 0 else "there are no ranks")
    def bcast_raising(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
        MUTANTS["raises"].wrong.run(comm, buf, root=root, tag=tag)

    found = next(each for each in counterexamples_of(bcast_raising) if each.kind == "error")
    assert " four is too many at test_mutants.py:" in found.summary


def test_values_of_parameters_are_tried() -> None:
    """The parameter of this algorithm has a mistake for values above its default of 4."""

    def run(comm: Any, buf: Any, *, root: int = 0, tag: int = 0, arity: int = 4) -> None:
        STAR.run(comm, buf, root=root, tag=tag, leave_out=lambda v, p: arity > 4 and v == 2)

    counterexamples = counterexamples_of(replace(STAR, run=run, parameters={"arity": 4}))
    assert counterexamples[0].case.parameters in ({"arity": 5}, {"arity": 9})
    assert counterexamples[0].p == 3


def test_invalid_arguments_raise() -> None:
    """The messages name the valid values."""
    unknown = r"^verify has no expected results for operation 'shout' of kind 'intra'; operations of this kind: allgather, "
    with pytest.raises(LookupError, match=unknown):
        counterexamples_of(replace(RING, operation="shout"))
    with pytest.raises(TypeError, match=r"^verify takes an Algorithm, not 'ring'$"):
        collectives.verify("ring", Emulator())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^verify: ranks = 1 is too small; the minimum is 2, at least 1 in each group$"):
        counterexamples_of(find("barrier", "wmpi", kind="inter"), ranks=1)


def test_infinite_schedules_and_nan_results_are_reported() -> None:
    """Neither raises an exception in verify."""

    def nothing_at_all(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
        STAR.run(comm, buf, root=root, tag=tag)
        if buf.dtype == "float64" and comm.Get_rank() == 1:
            buf[:] = float("nan")

    (endless,) = counterexamples_of(replace(STAR, schedule=lambda case: repeat([])), ranks=2, cases=4)
    assert endless.summary == "bcast star, claims: the schedule raised ValueError: it has 100,000 rounds or more"
    (wrong,) = counterexamples_of(replace(STAR, run=nothing_at_all))
    assert (wrong.kind, wrong.p, wrong.actual) == ("result", 2, "nan")


def test_seconds_limits_the_search() -> None:
    """At least one case is run."""
    assert counterexamples_of(MUTANTS["raises"].wrong, seconds=0) == []
    assert [each.p for each in counterexamples_of(MUTANTS["runs although fits rejects"].wrong, ranks=1, seconds=0)] == [1]
