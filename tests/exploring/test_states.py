"""A state that is known is not gone on from again, and nothing is missed by that."""

from threading import Thread
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.exploring.found import same
from fakempi.exploring.states import may_be_late, spread
from tests.exploring.programs import ANY, outcomes


def ticks(comm: Any, each: int) -> Any:
    """Everybody sends the same, some times, and nobody asks who sent it."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(each * (comm.size - 1))]
    return [comm.send("tick", 0) for _ in range(each)]


@pytest.mark.parametrize("buffering", ["zero", "infinite"])
@pytest.mark.parametrize(
    ("p", "each", "merging", "each_way"), [(3, 1, 1, 1), (3, 2, 4, 4), (3, 4, 16, 50), (3, 6, 36, 672), (4, 2, 25, 30)]
)  # fmt: skip
def test_streams_of_equal_messages_cost_their_states(
    buffering: str, p: int, each: int, merging: int, each_way: int
) -> None:
    """How many of each sender's are gone, and not in which order: runs grow with the square, and not like binomials."""
    found = fakempi.explore(ticks, p, each, buffering=buffering)
    assert (found.exhausted, found.failures) == (True, [])
    assert found.runs + found.ended_early == merging
    if each_way < 100:
        found = fakempi.explore(ticks, p, each, buffering=buffering, states=False)
        assert (found.runs, found.ended_early, found.exhausted) == (each_way, 0, True)


def test_how_many_runs_ended_in_known_states_is_said() -> None:
    """Beside the other ways in which schedules were chosen."""
    found = fakempi.explore(ticks, 3, 3, buffering="zero")
    assert found.method == f"fewest deviations first, {found.ended_early} ended in a state that was known"


def test_a_bug_behind_a_state_that_was_met_twice_is_found() -> None:
    """Rank 3 is served in between by one of the ways to a state, and only then could it be late."""

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
        fakempi.run(main, 4, decisions=failure.decisions)


def test_times_are_told() -> None:
    """A rank that reads the clock is told when it went on, and that hangs on the order of equal messages."""

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
    assert [[type(one.error) for one in found.failures] for found in both] == [[fakempi.OutcomesDiffer]] * 2


def test_what_is_ahead_may_be_late_and_is_heard_of() -> None:
    """By process, source and tag; and along all messages that are to come."""
    came = [("came", 0, 2, 7)]
    assert may_be_late((0, MPI.ANY_SOURCE, 7, frozenset({1})), came)
    assert may_be_late((0, 2, MPI.ANY_TAG, frozenset()), came)
    assert not may_be_late((0, MPI.ANY_SOURCE, 7, frozenset({2})), came)
    assert not may_be_late((1, MPI.ANY_SOURCE, MPI.ANY_TAG, frozenset()), came)
    assert not may_be_late((0, 1, 7, frozenset()), came)
    assert not may_be_late(None, came)
    assert may_be_late(True, [])
    heard = frozenset({("heard", 1, 2), ("heard", 0, 1), ("heard", 3, 0)})
    assert (spread(0b0001, heard), spread(0b0100, heard), spread(0b1, heard | {("met",)})) == (0b0111, 0b0100, -1)


def threads(comm: Any) -> None:
    """A thread that sends."""
    if comm.rank:
        thread = Thread(target=comm.send, args=("tick", 0))
        thread.start()
        thread.join()
    ticks(comm, 2 if comm.rank == 0 else 1)


def files(comm: Any, path: str) -> None:
    """A file that is open."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
    ticks(comm, 2)
    file.Close()


SEEN: list[int] = []


def shares(comm: Any) -> None:
    """A list that ranks fill."""
    ticks(comm, 2)
    SEEN.append(comm.rank)
    ticks(comm, 2)


CONSTANT = [2]


def shares_what_nobody_changes(comm: Any) -> None:
    """A list that ranks read."""
    ticks(comm, CONSTANT[0])


@pytest.mark.parametrize(
    ("main", "why"),
    [(threads, "threads"), (files, "files"), (shares, "objects that all ranks can change"),
     (shares_what_nobody_changes, None)],
)  # fmt: skip
def test_where_nobody_knows_what_ranks_were_told_states_are_not_compared(main: Any, why: str | None, tmp_path: Any) -> None:
    """And that is said."""
    args = [str(tmp_path / "data")] if main is files else []
    found = fakempi.explore(main, 3, *args, buffering="infinite", runs=60)
    assert not found.failures
    said = f"no states compared because of {why}"
    assert (said in found.method) == (why is not None), found.method
    assert ("ended in a state" in found.method) == (why is None)


@st.composite
def streams(draw: Any) -> Any:
    """Ranks that send much that is equal to one or two others, who mostly do not ask from whom it is."""
    p = draw(st.integers(3, 4))
    lists: list[list[tuple[Any, ...]]] = [[] for _ in range(p)]
    for _ in range(draw(st.integers(3, 6))):
        dest = draw(st.sampled_from([0, 0, 1]))
        source = draw(st.integers(0, p - 2))
        source += source >= dest
        lists[source].append(draw(st.sampled_from([("send", dest, 0, 1)] * 5 + [("send", dest, 0, 2), ("tell", dest, 0)])))
        takes = [("recv", ANY, 0)] * 5 + [("recv", ANY, -1), ("ask", ANY, 0), ("recv", source, 0), ("irecv", ANY, 0)]
        lists[dest].append(draw(st.sampled_from([*takes, ("mprobe", ANY, 0)])))
        if draw(st.integers(0, 4)) == 0:
            more = [("waitany",), ("test",), ("waitsome",), ("probe", ANY, 0), ("iprobe", ANY, -1), ("fail", 1)]
            lists[draw(st.integers(0, p - 1))].append(draw(st.sampled_from(more)))
    return lists


LATER = [[("recv", ANY, 0)] * 3, [("send", 0, 0, 1)], [("send", 0, 0, 1), ("iprobe", ANY, -1), ("send", 0, 0, 2)]]
"""Rank 2's second message comes when both equal ones are gone, and could have come before."""


@settings(max_examples=15, deadline=None)
@given(streams(), st.sampled_from(["zero", "infinite"]))
@example(LATER, "infinite")
def test_merging_states_changes_nothing_that_can_be_seen(lists: Any, buffering: str) -> None:
    """Whatever a rank may see, and whatever may fail, in whatever program: as if nothing were left out at all."""
    every, full = outcomes(lists, buffering=buffering, runs=120, reduce=False, strict=False)
    if full.part < 1:
        return
    seen, found = outcomes(lists, buffering=buffering, strict=False)
    assert found.part == 1
    assert seen == every
    assert {same(one.error) for one in found.failures} == {same(one.error) for one in full.failures}
