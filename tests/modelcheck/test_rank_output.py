# ruff: noqa: T201
"""The output of ranks is compared between schedules; the reduced search finds every output that the full one finds."""

import sys
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.errors import MPIValueError, OutcomesDifferError
from fakempi.modelcheck.search import outcomes as comparing
from fakempi.modelcheck.search.rank_output import Comparison, RankOutput
from tests.helpers.breadth import examples
from tests.modelcheck.programs import Script
from tests.modelcheck.test_reduction import programs

ANY = MPI.ANY_SOURCE


def arrivals(comm: Any) -> None:
    """Rank 0 prints messages in the order of their arrival."""
    if comm.rank == 0:
        for _ in range(comm.size - 1):
            print("got", comm.recv(source=ANY))
        print("done", file=sys.stderr)
    else:
        comm.send(comm.rank, 0)
        print("sent", comm.rank)


def first_arrival(comm: Any, timer: int) -> None:
    """Rank 0 prints the first sender. The rank `timer` prints its time, in a line that is only a number, too."""
    if comm.rank == 0:
        first = comm.recv(source=ANY)
        comm.recv(source=ANY)
        print(first)
    else:
        comm.send(comm.rank, 0)
    if comm.rank == timer:
        print(MPI.Wtime())


def test_a_time_hides_no_result_silently(capsys: pytest.CaptureFixture[str]) -> None:
    """A time of another rank hides nothing; one of the same rank, in a line of the same form, is a limit of the search."""
    assert fakempi.explore(first_arrival, 3, 1, compare="output").failures
    found = fakempi.explore(first_arrival, 3, 0, compare="output")
    assert (found.failures, found.exhausted) == ([], False)
    assert any("numbers in lines like '#' of rank 0 (stdout) are not compared" in limit for limit in found.limits)


def test_output_that_depends_on_the_schedule_is_shown_with_both_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    """The first line that differs, both tokens, and the choice between them."""
    found = fakempi.explore(arrivals, 3, compare="output", buffering="infinite")
    (failure,) = found.failures
    assert isinstance(failure.error, OutcomesDifferError)
    assert str(failure.error) == (
        "the output of rank 0 depends on the schedule (stdout, line 1):\n  i:1  'got 2'\n  i:0  'got 1'"
    )
    assert failure.why.endswith(" took rank 2's message; with rank 1's message the outcome is the other one")
    assert (failure.schedule, failure.passes, found.verdict) == ("i:1", "i:0", "1 of 2 schedules fails")
    assert "got 1\n" in capsys.readouterr().out


def test_the_order_of_lines_can_be_ignored_and_returns_compared_as_well() -> None:
    """One of the three, or several."""

    def main(comm: Any) -> Any:
        arrivals(comm)
        return comm.recv(source=ANY) if comm.rank == 0 else comm.send(comm.rank, 0)

    assert fakempi.explore(arrivals, 3, compare="lines").exhausted
    assert fakempi.explore(arrivals, 3).exhausted
    choices: list[Any] = [("returns", "output"), ["output"], "returns"]
    for kinds in choices:
        assert not fakempi.explore(lambda comm: comm.rank, 3, compare=kinds).failures
        assert fakempi.explore(main, 3, compare=kinds).failures
    with pytest.raises(MPIValueError, match="explore: compare must be 'returns', 'output', 'lines' or None, not 'sums'"):
        fakempi.explore(main, 3, compare="sums")  # type: ignore[arg-type]  # the wrong value is the test


def test_times_and_addresses_are_not_compared() -> None:
    """Modeled and real clocks, and addresses of objects; the rest of the line is compared."""

    def main(comm: Any, differs: bool) -> None:
        start, real = MPI.Wtime(), time.perf_counter()
        if comm.rank == 0:
            got = [comm.recv(source=ANY) for _ in range(2)]
            print(f"took {MPI.Wtime() - start} s, really {time.perf_counter() - real:.9f} s, {object()} {sum(got)}")
            if differs:
                print(f"{MPI.Wtime() - start:.2f} {got[0]}")
        else:
            fakempi.compute(comm.rank)
            comm.send(comm.rank, 0)

    found = fakempi.explore(main, 3, False, compare="output")
    assert (found.part, found.failures) == (1, []), found
    assert found.limits == ["the value that a rank reads from its clock is not explored"]
    (failure,) = fakempi.explore(main, 3, True, compare="output").failures
    assert "(stdout, line 2)" in str(failure)


def test_nondeterministic_output_is_not_compared_and_is_reported() -> None:
    """If more than its numbers differ."""
    words = iter(["a", "b"] * 10_000)

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.recv(source=ANY)
            print(next(words))
        else:
            comm.send(None, 0)

    found = fakempi.explore(main, 2, compare="output", ignore_shared=True)
    assert not found.failures
    assert "the output of rank 0 (stdout) differs between two runs of one schedule" in found.limits
    assert not found.exhausted


def test_lines_that_are_missing_differ() -> None:
    """On either side; empty lines count."""
    comparison = Comparison(ordered=True)
    one, other = {("stdout", 1): ["a"]}, {("stdout", 1): ["a", ""]}
    assert comparison.difference(one, other) == (("stdout", 1), 2, "(nothing)", "''")
    assert comparison.difference(other, {}) == (("stdout", 1), 1, "'a'", "(nothing)")
    assert comparison.difference(one, one) is None


class Prints(Script):
    """A random program that prints its observations at once."""

    def __call__(self, comm: Any) -> None:
        """Execute the list of a rank."""
        seen: Any = Loud()
        waiting: list[Any] = []
        for what, *more in self.lists[comm.rank]:
            getattr(self, what)(comm, seen, waiting, *more)
        for request in waiting:
            seen.append(("late", request.wait()))


class Loud(list[Any]):
    """Prints appended items."""

    def append(self, item: Any) -> None:
        """Print and store."""
        print(item)
        super().append(item)


def outputs(lists: Any, **options: Any) -> tuple[set[Any], Any]:
    """Return the possible outputs of each rank over all schedules, and the exploration."""
    script, printed, early = Prints(lists), RankOutput(), 0
    seen: set[Any] = set()

    def on_run(found: Any, waiting: int) -> None:
        nonlocal early
        if found.ended_early == early:
            seen.update((where, tuple(lines)) for where, lines in printed.lines().items())
        early = found.ended_early
        printed.begin()

    with printed.recorded():
        found = fakempi.explore(
            lambda comm: script(comm), len(lists), on_run=on_run, compare="output", strict=False, polls=2, **options
        )
    return seen, found


LATER = [[("recv", ANY, 0)] * 3, [("send", 0, 0, 1)], [("send", 0, 0, 1), ("iprobe", ANY, -1), ("send", 0, 0, 2)]]


@settings(max_examples=examples(25), deadline=None)
@given(programs(), st.sampled_from(["zero", "infinite"]))
@example(LATER, "infinite")
def test_the_reduced_search_finds_every_output_of_the_full_one(lists: Any, buffering: str) -> None:
    """Every possible output of a rank, in any program."""
    before, comparing.MAX_REPEATED = comparing.MAX_REPEATED, 0  # repeated runs would print twice
    try:
        every, full = outputs(lists, buffering=buffering, runs=300, reduce=False)
        if full.part < 1:
            return
        seen, found = outputs(lists, buffering=buffering, runs=1000)
    finally:
        comparing.MAX_REPEATED = before
    assert found.part == 1
    assert seen == every
    differs = [{str(one.error).split(":\n")[0] for one in each.failures if isinstance(one.error, OutcomesDifferError)}
               for each in (found, full)]  # fmt: skip
    assert {word.split(" (")[0] for word in differs[0]} == {word.split(" (")[0] for word in differs[1]}
