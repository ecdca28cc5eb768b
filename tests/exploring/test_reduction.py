"""What need not be run is not, and nothing is missed by that."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.exploring.programs import ANY, outcomes


def runs(main: Any, p: int, **options: Any) -> int:
    """How many runs it takes, when all is seen."""
    found = fakempi.explore(main, p, **options)
    assert found.exhausted, found
    assert not found.failures, found
    return found.runs


def collects(comm: Any) -> Any:
    """Everybody sends to the first of its three."""
    first = comm.rank - comm.rank % 3
    if comm.rank == first:
        return sorted(comm.recv(source=ANY) for _ in range(2))
    return comm.send(comm.rank, first)


@pytest.mark.parametrize("buffering", ["zero", "infinite"])
@pytest.mark.parametrize(("pairs", "all_of_them"), [(1, 2), (2, 24), (3, 720)])
def test_receivers_that_never_meet_cost_their_sum(buffering: str, pairs: int, all_of_them: int) -> None:
    """One run, and one more for each other order; without reduction, also whose turn it is multiplies."""
    assert runs(collects, 3 * pairs, buffering=buffering) == 1 + pairs
    if pairs < 3:
        assert runs(collects, 3 * pairs, buffering=buffering, reduce=False) == all_of_them


def test_receivers_that_meet_afterwards_cost_their_product() -> None:
    """What they got may tell in what comes then."""

    def main(comm: Any) -> Any:
        order = collects(comm)
        return comm.gather(order)

    assert runs(main, 6, buffering="infinite") == 4


@pytest.mark.parametrize("buffering", ["zero", "infinite"])
@pytest.mark.parametrize("p", [3, 6, 9])
def test_equal_messages_cost_one_run(buffering: str, p: int) -> None:
    """If nobody asks who sent them."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.recv(source=ANY) for _ in range(p - 1)]
        return comm.send("done", 0)

    assert runs(main, p, buffering=buffering) == 1


def test_equal_arrays_cost_one_run() -> None:
    """And not more than the content is compared."""

    def main(comm: Any) -> Any:
        array = np.arange(3.0) if comm.rank < 3 else np.arange(3, 6.0)
        if comm.rank == 0:
            for _ in range(comm.size - 1):
                comm.Recv(array, source=ANY)
        else:
            comm.Send(array, 0)
        return None

    assert runs(main, 3, buffering="infinite") == 1
    assert runs(main, 4, buffering="infinite") == 3


@pytest.mark.parametrize("how", ["status", "exact", "probe", "two messages"])
def test_equal_messages_are_told_apart_by_who_asks(how: str) -> None:
    """By a status, by a receive that names one of the senders, by a probe, or by what one of them sends besides."""

    def main(comm: Any) -> Any:
        status = MPI.Status() if how == "status" else None
        if comm.rank == 0:
            comm.recv(source=ANY, status=status)
            if how == "probe":
                comm.probe()
            if how == "exact":
                return comm.sendrecv("to myself", 0, source=2 if comm.iprobe(source=2) else 1)
            return [comm.recv(source=ANY) for _ in range(2 if how == "two messages" else 1)]
        comm.send("x", 0)
        return comm.send("y", 0) if how == "two messages" and comm.rank == 2 else None

    assert fakempi.explore(main, 3, buffering="infinite").runs > 1


def test_senders_that_wait_and_then_go_on_are_told_apart() -> None:
    """The one whose message is received first is the first to send again."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.recv(source=ANY) for _ in range(2)]
        if comm.rank == 3:
            return [comm.recv(source=ANY) for _ in range(2)]
        comm.ssend("x", 0)
        return comm.send(comm.rank, 3)

    found = fakempi.explore(main, 4, buffering="zero", compare="returns")
    assert [type(failure.error).__name__ for failure in found.failures] == ["OutcomesDiffer"]


def test_a_message_that_another_choice_leads_to_is_not_missed() -> None:
    """Rank 1 sends to 0 only after it has received from anybody: rank 0 could have waited for that."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return comm.recv(source=ANY), comm.recv(source=ANY)
        if comm.rank == 1:
            comm.recv(source=ANY)
        comm.send(comm.rank, 0 if comm.rank < 3 else 1)
        return None

    seen = set()
    for token in ("z:0", "z:1.1", "i:0", "i:1.1"):
        seen.add(fakempi.run(main, 4, decisions=token).returns[0])
    assert seen == {(2, 1), (1, 2)}
    found = fakempi.explore(main, 4, compare="returns", buffering="zero")
    assert [failure.error.rank for failure in found.failures] == [0]  # type: ignore[attr-defined]
    assert (found.runs, found.exhausted) == (2, True)


def test_what_comes_after_a_choice_does_not_multiply_it() -> None:
    """A worker that asks for more when it was answered cannot have asked before."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            status = MPI.Status()
            for answer in ("more", "more", "stop", "stop"):
                comm.recv(source=ANY, status=status)
                comm.send(answer, status.source)
            return None
        while True:
            comm.send("done", 0)
            if comm.recv(source=0) == "stop":
                return None

    assert runs(main, 3, buffering="infinite") == runs(main, 3, buffering="infinite", reduce=False) == 8


def test_a_sender_that_waits_for_ever_is_not_taken_for_one_that_is_done() -> None:
    """What rank 0 sends second is equal to what rank 2 sends; but only if it is received does rank 0 go on."""
    lists: list[list[tuple[Any, ...]]] = [
        [("send", 1, 1, 0), ("send", 1, 1, 1), ("irecv", ANY, 0), ("send", 1, 0, 1)],
        [("irecv", ANY, 1), ("irecv", ANY, -1), ("tell", 0, 0), ("recv", 2, 1), ("irecv", 0, 0)],
        [("send", 1, 1, 1)],
    ]  # fmt: skip
    every, full = outcomes(lists, buffering="zero", reduce=False, strict=False)
    seen, found = outcomes(lists, buffering="zero", strict=False)
    assert seen == every
    assert found.runs == full.runs == 3


def test_a_probe_that_waits_behind_a_receive_tells_equal_messages_apart() -> None:
    """It was there before the receive took one of them, and is told from whom the other is."""
    lists: list[list[tuple[Any, ...]]] = [
        [("irecv", ANY, 0), ("probe", ANY, 0), ("recv", ANY, 0)], [("send", 0, 0, 1)], [("send", 0, 0, 1)],
    ]  # fmt: skip
    every, _ = outcomes(lists, buffering="infinite", reduce=False)
    seen, _ = outcomes(lists, buffering="infinite")
    assert seen == every
    assert len([rank for rank, _ in seen if rank == 0]) == 2


@st.composite
def programs(draw: Any) -> Any:
    """Lists of things to do, in which most messages have a receive that fits."""
    p = draw(st.integers(2, 4))
    lists: list[list[tuple[Any, ...]]] = [[] for _ in range(p)]
    for _ in range(draw(st.integers(2, 6))):
        source, tag = draw(st.integers(0, p - 1)), draw(st.sampled_from([0, 0, 1]))
        other = draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3]))
        if other:
            more = [("waitany",), ("test",), ("probe", ANY, tag), ("iprobe", ANY, -1), ("fail", 1)]
            lists[source].append(draw(st.sampled_from(more)))
            continue
        dest = draw(st.integers(0, p - 2))
        dest += dest >= source
        lists[source].append(draw(st.sampled_from([("send", dest, tag, 1), ("send", dest, tag, 2), ("tell", dest, tag)])))
        takes = [("recv", ANY, tag), ("recv", ANY, -1), ("ask", ANY, tag), ("recv", source, tag), ("irecv", ANY, tag)]
        lists[dest].append(draw(st.sampled_from(takes)))
    return lists


@settings(max_examples=25, deadline=None)
@given(programs(), st.sampled_from(["zero", "infinite"]))
def test_the_reduced_search_sees_all_that_the_full_one_sees(lists: Any, buffering: str) -> None:
    """Whatever a rank may see, in whatever program, and whatever may fail."""
    every, full = outcomes(lists, buffering=buffering, runs=300, reduce=False, strict=False)
    if full.part < 1:
        return
    seen, found = outcomes(lists, buffering=buffering, runs=1000, strict=False)
    assert seen == every
    assert found.runs + found.ended_early <= full.runs
    assert found.part == 1
