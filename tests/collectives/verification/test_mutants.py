"""Mistakes are found, in the smallest case, and algorithms without them pass."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest

import collectives
from collectives import Algorithm, Case, find
from collectives.verification.counterexample import Counterexample
from fakempi.laboratory import Emulator
from tests.collectives.verification.mutants import MUTANTS, RING, STAR, Mutant


def found(algorithm: Algorithm, patience: float = 10.0, **options: Any) -> list[Counterexample]:
    """The verdict on few ranks, which is quick."""
    return collectives.verify(algorithm, Emulator(patience), **{"ranks": 4, "cases": 60, **options})


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=list(MUTANTS))
def test_a_mistake_is_found_in_the_smallest_case(mutant: Mutant) -> None:
    """By its name, with the smallest number of ranks."""
    counterexamples = found(mutant.wrong)
    assert (mutant.what, mutant.p) in [(each.what, each.p) for each in counterexamples]
    ranks = [each.case.ranks for each in counterexamples]
    assert ranks == sorted(ranks)


@pytest.mark.slow
@pytest.mark.parametrize("twin", {id(mutant.right): mutant.right for mutant in MUTANTS.values()}.values(), ids=repr)
def test_the_same_without_the_mistake_holds(twin: Algorithm) -> None:
    """So that it is the mistake that is found."""
    assert found(twin) == []


def test_an_algorithm_that_does_not_end_is_stopped() -> None:
    """By the wall clock, the only thing that can tell; one such case is enough."""

    def run(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
        while comm.Get_size() > 1:
            pass

    (only,) = found(replace(STAR, run=run), patience=0.2)
    assert (only.what, only.p) == ("endless", 2)
    assert str(only).splitlines()[0] == "bcast star, endless: it does not end"
    assert "stopped after 0.2 seconds of computing" in str(only)


def test_a_barrier_that_does_not_wait_is_found() -> None:
    """Who comes late is not waited for, whatever the schedule says."""
    barrier = find("barrier", "linear")
    silent = replace(barrier, run=lambda comm, *, tag=0: None, schedule=None, closed_rounds=None, closed_time=None)
    assert [(each.what, each.p) for each in found(replace(silent, closed_sent=None))] == [("result", 2)]
    (deaf, *_) = found(replace(barrier, schedule=lambda case: []))
    assert (deaf.what, deaf.p) == ("schedule", 2)
    assert "by the schedule rank 0 goes on without having heard of rank 1" in str(deaf)


def test_mistakes_between_groups_are_found() -> None:
    """With the sizes of both."""
    bcast = find("bcast", "wmpi", kind="inter")

    def run(inter: Any, local: Any, *args: Any, **options: Any) -> None:
        if local.Get_size() != 3:
            bcast.run(inter, local, *args, **options)

    counterexamples = found(replace(bcast, run=run), cases=30)
    assert counterexamples[0].case.ranks == 4
    assert {each.what for each in counterexamples} >= {"deadlock"}
    claims_less = replace(bcast, closed_time=lambda case, t_s, t_w: 0, closed_combined=lambda case: 0)
    (only,) = found(claims_less, cases=30)
    assert (only.what, only.p, only.case.q, only.case.m) == ("time", 1, 1, 1)


def test_mistakes_of_sorts_and_splits_are_found() -> None:
    """What they return, and what they hold."""
    sort, split = find("sort", "bitonic", kind="chain"), find("split", "bitonic")

    def unsorted(chain: Any, item: bytes, **options: Any) -> bytes:
        sort.run(chain, item, **options)
        return item

    assert ("result", 2) in [(each.what, each.p) for each in found(replace(sort, run=unsorted))]
    assert [(each.what, each.p) for each in found(replace(sort, holds=lambda case: 3))] == [("holds", 2)]
    together = replace(split, run=lambda comm, color, key, **options: split.run(comm, None, key, **options))
    counterexamples = found(together)
    assert [(each.what, each.p) for each in counterexamples] == [("result", 2)]
    assert "colours" in str(counterexamples[0])


def test_an_algorithm_that_refuses_everything_does_not_pass() -> None:
    """There would be nothing that holds."""
    (only, *_) = found(replace(STAR, fits=lambda case: "not today"))
    assert only.what == "fits"
    assert "fits refuses every case" in found(replace(STAR, run=refusing, fits=lambda case: "not today"))[0].line


def refusing(comm: Any, buf: Any, **options: Any) -> None:
    raise collectives.DoesNotFit("not today")


def test_the_report_has_the_numbers_the_case_and_the_round() -> None:
    """Where the last of three is left out."""
    first = found(MUTANTS["forgets the last where p is no power of two"].wrong)[0]
    assert str(first).splitlines() == [
        "bcast star, result: rank 2 has 255 at element 0, not 1 (1 of 1 differ)",
        "smallest case: p = 3, m = 1 byte, root 0; t_s = 1000, t_w = 1, nothing buffered",
        "    round 2, where paper and run part:",
        "    rank   on paper      in the run",
        "    0      1 byte to 2   nothing      <",
        "    1      nothing       nothing",
        "    2      nothing       nothing",
        "    rank   must have   has",
        "    2      1           255",
    ]
    assert (first.claimed, first.found, first.case) == ("1", "255", Case(3, 1))


def test_times_that_part_are_shown() -> None:
    """The same messages, and one that begins later than on paper."""
    (late,) = [each for each in found(MUTANTS["sends in turn what it claims to exchange"].wrong) if each.what == "time"]
    assert str(late).splitlines() == [
        "allgather own_ring, time: it takes 2002 seconds of modelled time, and the closed form says 1001 "
        "(the schedule says 1001)",
        "smallest case: p = 2, m = 1 byte; t_s = 1000, t_w = 1, nothing buffered",
        "    round 1, where paper and run part:",
        "    rank   on paper           in the run",
        "    0      1 byte to 1        1 byte to 1",
        "    1      1 byte to 0 at 0   1 byte to 0 at 1001   <",
    ]
    assert (late.claimed, late.found) == (1001, 2002)


def test_a_closed_form_that_differs_from_the_schedule_is_told_apart() -> None:
    """Then there is no round where paper and run part."""
    (only,) = found(MUTANTS["claims too few rounds"].wrong)
    assert str(only).splitlines() == [
        "bcast star, rounds: it takes 3 rounds, and the closed form says 2 (the schedule says 3)",
        "smallest case: p = 4, m = 1 byte, root 0; t_s = 1, t_w = 0, nothing buffered",
        "    run and schedule agree in every message; by the schedule",
        "    round   messages   over at",
        "    1       1          1",
        "    2       1          2",
        "    3       1          3",
    ]


def test_a_deadlock_is_shown_with_who_waits_for_whom() -> None:
    """The machine's own report."""
    (only,) = found(replace(MUTANTS["relies on buffering"].wrong))
    lines = str(only).splitlines()
    assert lines[0] == "allgather own_ring, deadlock: nothing moves any more, and ranks wait"
    assert "    1      1 byte to 0   nothing      <" in lines
    assert "      cycle: 0 → 1 → 0" in lines


def test_an_error_says_where() -> None:
    """In the algorithm's own file."""
    (only,) = [each for each in found(MUTANTS["raises"].wrong) if each.what == "error"]
    assert only.line.startswith("bcast star, error: rank 0 raised RuntimeError: four is too many at mutants.py:")
    assert isinstance(only.found, RuntimeError)


def test_what_a_parameter_does_is_tried() -> None:
    """The algorithm's own: here the number of messages that a root sends at a time, wrong for more than four."""

    def run(comm: Any, buf: Any, *, root: int = 0, tag: int = 0, arity: int = 4) -> None:
        STAR.run(comm, buf, root=root, tag=tag, leave_out=lambda v, p: arity > 4 and v == 2)

    counterexamples = found(replace(STAR, run=run, parameters={"arity": 4}))
    assert counterexamples[0].case.parameters in ({"arity": 5}, {"arity": 9})
    assert counterexamples[0].p == 3


def test_an_operation_that_nobody_knows_is_refused() -> None:
    """With those that are known."""
    with pytest.raises(
        LookupError, match=r"^what an operation 'shout' of kind 'intra' must give is not known; of that kind"
    ):
        found(replace(RING, operation="shout"))
    with pytest.raises(TypeError, match=r"^verify takes an Algorithm, not 'ring'$"):
        collectives.verify("ring", Emulator())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^verify: ranks is 1; there must be at least 2$"):
        found(find("barrier", "wmpi", kind="inter"), ranks=1)


def test_schedules_that_do_not_end_and_results_that_are_no_numbers_are_told() -> None:
    """As any other mistake."""

    def nothing_at_all(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
        STAR.run(comm, buf, root=root, tag=tag)
        if buf.dtype == "float64" and comm.Get_rank() == 1:
            buf[:] = float("nan")

    (endless,) = found(replace(STAR, schedule=lambda case: repeat([])), ranks=2, cases=4)
    assert endless.line == "bcast star, claims: the schedule raised ValueError: it has 100,000 rounds or more"
    (wrong,) = found(replace(STAR, run=nothing_at_all))
    assert (wrong.what, wrong.p, wrong.found) == ("result", 2, "nan")


def test_time_that_is_up_ends_the_search() -> None:
    """With what has been found by then; one case is always tried."""
    assert found(MUTANTS["raises"].wrong, seconds=0) == []
    assert [each.p for each in found(MUTANTS["refuses cases that it takes"].wrong, ranks=1, seconds=0)] == [1]
