"""The search does not continue from a known state, and misses nothing."""

from threading import Thread
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.modelcheck.search.exploration import failure_key
from fakempi.modelcheck.search.states import could_be_late, spread
from tests.helpers.breadth import examples
from tests.modelcheck.programs import ANY, outcomes


def ticks(comm: Any, each: int) -> Any:
    """Every rank sends the same content several times, and no rank reads the source."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(each * (comm.size - 1))]
    return [comm.send("tick", 0) for _ in range(each)]


@pytest.mark.quick(3)
@pytest.mark.parametrize("buffering", ["zero", "infinite"])
@pytest.mark.parametrize(
    ("p", "each", "merging", "each_way"), [(3, 1, 1, 1), (3, 2, 4, 4), (3, 4, 16, 50), (3, 6, 36, 672), (4, 2, 25, 30)]
)  # fmt: skip
def test_the_runs_of_equal_messages_grow_with_the_number_of_states(
    buffering: Any, p: int, each: int, merging: int, each_way: int
) -> None:
    """A state is the number of messages received from each sender: runs grow with the square, not like binomials."""
    found = fakempi.explore(ticks, p, each, buffering=buffering)
    assert (found.exhausted, found.failures) == (True, [])
    assert found.runs + found.ended_early == merging
    if each_way < 100:
        found = fakempi.explore(ticks, p, each, buffering=buffering, states=False)
        assert (found.runs, found.ended_early, found.exhausted) == (each_way, 0, True)


def test_the_number_of_runs_that_ended_in_known_states_is_reported() -> None:
    """In addition to the other methods by which schedules were chosen."""
    found = fakempi.explore(ticks, 3, 3, buffering="zero")
    assert found.method == f"fewest deviations first, {found.ended_early} ended in a known state"


def test_a_bug_behind_a_repeated_state_is_found() -> None:
    """Rank 3 is served in between on one of the paths to a state, and can only be late then."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            got = [comm.recv(source=ANY) for _ in range(5)]
            assert got[3] != "last"
            return None
        if comm.rank == 3:
            comm.recv(source=1)
        for _ in range(2 if comm.rank < 3 else 1):
            comm.send("tick" if comm.rank < 3 else "last", 0)
        return comm.send(None, 3) if comm.rank == 1 else None

    found = fakempi.explore(main, 4)
    assert found.exhausted
    (failure,) = found.failures
    with pytest.raises(fakempi.RankError):
        fakempi.run(main, 4, schedule=failure.schedule)


def test_times_are_part_of_the_state() -> None:
    """A rank that reads the clock learns when it continued, which depends on the order of equal messages."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            for _ in range(4):
                comm.recv(source=ANY, tag=0)
            return comm.recv(source=1, tag=1) <= comm.recv(source=2, tag=1)
        comm.ssend("tick", 0)
        fakempi.compute(comm.rank)
        comm.ssend("tick", 0)
        return comm.send(MPI.Wtime(), 0, tag=1)

    both = [fakempi.explore(main, 3, buffering="zero", compare="returns", states=states) for states in (True, False)]
    assert [[type(one.error) for one in found.failures] for found in both] == [[fakempi.OutcomesDifferError]] * 2


def test_events_after_a_node_may_be_late_and_spread_to_other_processes() -> None:
    """By process, source and tag, and along all future messages."""
    came = [("arrived", 0, 2, 7)]
    assert could_be_late((0, MPI.ANY_SOURCE, 7, frozenset({1})), came)
    assert could_be_late((0, 2, MPI.ANY_TAG, frozenset()), came)
    assert not could_be_late((0, MPI.ANY_SOURCE, 7, frozenset({2})), came)
    assert not could_be_late((1, MPI.ANY_SOURCE, MPI.ANY_TAG, frozenset()), came)
    assert not could_be_late((0, 1, 7, frozenset()), came)
    assert not could_be_late(None, came)
    assert could_be_late(True, [])
    heard = frozenset({("informed", 1, 2), ("informed", 0, 1), ("informed", 3, 0)})
    assert (spread(0b0001, heard), spread(0b0100, heard), spread(0b1, heard | {("synchronized",)})) == (0b0111, 0b0100, -1)


def threads(comm: Any) -> None:
    """A thread that sends."""
    if comm.rank:
        thread = Thread(target=comm.send, args=("tick", 0))
        thread.start()
        thread.join()
    ticks(comm, 2 if comm.rank == 0 else 1)


def files(comm: Any, path: str) -> None:
    """An open file."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
    ticks(comm, 2)
    file.Close()


CONSTANT = [2]


def shares_a_constant_list(comm: Any) -> None:
    """A list that ranks read."""
    ticks(comm, CONSTANT[0])


@pytest.mark.parametrize(
    ("main", "why"),
    [(threads, "threads"), (files, "files"), (shares_a_constant_list, None)],
)  # fmt: skip
def test_states_are_not_compared_if_communication_is_untracked(main: Any, why: str | None, tmp_path: Any) -> None:
    """The verdict reports it."""
    args = [str(tmp_path / "data")] if main is files else []
    found = fakempi.explore(main, 3, *args, buffering="infinite", runs=60)
    assert not found.failures
    said = f"no state comparison because of {why}"
    assert (said in found.method) == (why is not None), found.method
    assert ("ended in a known state" in found.method) == (why is None)


@st.composite
def streams(draw: Any) -> Any:
    """Ranks that send many equal messages to one or two others, which mostly do not read the source."""
    p = draw(st.integers(3, 4))
    lists: list[list[tuple[Any, ...]]] = [[] for _ in range(p)]
    for _ in range(draw(st.integers(3, 6))):
        dest = draw(st.sampled_from([0, 0, 1]))
        source = draw(st.integers(0, p - 2))
        source += source >= dest
        lists[source].append(draw(st.sampled_from([("send", dest, 0, 1)] * 5 + [("send", dest, 0, 2), ("inform", dest, 0)])))
        takes = [("recv", ANY, 0)] * 5 + [("recv", ANY, -1), ("ask", ANY, 0), ("recv", source, 0), ("irecv", ANY, 0)]
        lists[dest].append(draw(st.sampled_from([*takes, ("mprobe", ANY, 0)])))
        if draw(st.integers(0, 4)) == 0:
            more = [("waitany",), ("test",), ("waitsome",), ("probe", ANY, 0), ("iprobe", ANY, -1), ("fail", 1)]
            lists[draw(st.integers(0, p - 1))].append(draw(st.sampled_from(more)))
    return lists


LATER = [[("recv", ANY, 0)] * 3, [("send", 0, 0, 1)], [("send", 0, 0, 1), ("iprobe", ANY, -1), ("send", 0, 0, 2)]]
"""Rank 2's second message arrives after both equal ones are received, and could have arrived before."""


@pytest.mark.sample
@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(streams(), st.sampled_from(["zero", "infinite"]))
@example(LATER, "infinite")
def test_merging_states_does_not_change_outcomes(lists: Any, buffering: Any) -> None:
    """Every observation and failure in any program, compared with a search without any reduction."""
    every, full = outcomes(lists, buffering=buffering, runs=120, reduce=False, strict=False)
    if full.part < 1:
        return
    seen, found = outcomes(lists, buffering=buffering, strict=False)
    assert found.part == 1
    assert seen == every
    assert {failure_key(one.error) for one in found.failures} == {failure_key(one.error) for one in full.failures}
