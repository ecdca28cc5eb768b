"""Redundant schedules are not run, and no outcome is missed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.breadth import examples
from tests.modelcheck.programs import ANY, outcomes


def runs(main: Any, p: int, **options: Any) -> int:
    """The number of runs of an exhausted search."""
    found = fakempi.explore(main, p, **options)
    assert found.exhausted, found
    assert not found.failures, found
    return found.runs


def collects(comm: Any) -> Any:
    """Every rank sends to the first rank of its group of three."""
    first = comm.rank - comm.rank % 3
    if comm.rank == first:
        return sorted(comm.recv(source=ANY) for _ in range(2))
    return comm.send(comm.rank, first)


@pytest.mark.parametrize("buffering", ["zero", "infinite"])
@pytest.mark.parametrize(("pairs", "all_of_them"), [(1, 2), (2, 24), (3, 720)])
def test_schedules_of_independent_receivers_add_up(buffering: str, pairs: int, all_of_them: int) -> None:
    """One run, and one more for each other order; without reduction, the order of independent choices multiplies them."""
    assert runs(collects, 3 * pairs, buffering=buffering) == 1 + pairs
    if pairs < 3:
        assert runs(collects, 3 * pairs, buffering=buffering, reduce=False) == all_of_them


def test_receivers_that_communicate_afterwards_cost_their_product() -> None:
    """Later actions may depend on the received data."""

    def main(comm: Any) -> Any:
        order = collects(comm)
        return comm.gather(order)

    assert runs(main, 6, buffering="infinite", collectives="minimal") == 4


@pytest.mark.parametrize("buffering", ["zero", "infinite"])
@pytest.mark.parametrize("p", [3, 6, 9])
def test_equal_messages_cost_one_run(buffering: str, p: int) -> None:
    """If no rank reads the source."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.recv(source=ANY) for _ in range(p - 1)]
        return comm.send("done", 0)

    assert runs(main, p, buffering=buffering) == 1


def test_equal_arrays_cost_one_run() -> None:
    """Only the contents are compared."""

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
def test_equal_messages_are_distinguished_by_reading_the_source(how: str) -> None:
    """By a status, by a receive that names one of the senders, by a probe, or by other messages of a sender."""

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


def test_senders_that_continue_after_waiting_are_distinguished() -> None:
    """The one whose message is received first is the first to send again."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.recv(source=ANY) for _ in range(2)]
        if comm.rank == 3:
            return [comm.recv(source=ANY) for _ in range(2)]
        comm.ssend("x", 0)
        return comm.send(comm.rank, 3)

    found = fakempi.explore(main, 4, buffering="zero", compare="returns")
    assert [type(failure.error).__name__ for failure in found.failures] == ["OutcomesDifferError"]


def test_a_message_that_another_choice_leads_to_is_not_missed() -> None:
    """Rank 1 sends to 0 only after it has received from any source: rank 0 could have waited for that message."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return comm.recv(source=ANY), comm.recv(source=ANY)
        if comm.rank == 1:
            comm.recv(source=ANY)
        comm.send(comm.rank, 0 if comm.rank < 3 else 1)
        return None

    seen = set()
    for token in ("z:0", "z:1.1", "i:0", "i:1.1"):
        seen.add(fakempi.run(main, 4, schedule=token).returns[0])
    assert seen == {(2, 1), (1, 2)}
    found = fakempi.explore(main, 4, compare="returns", buffering="zero")
    assert [failure.error.rank for failure in found.failures] == [0]  # type: ignore[attr-defined]
    assert (found.runs, found.exhausted) == (2, True)


def test_choices_after_an_independent_choice_do_not_multiply_it() -> None:
    """A worker that requests more work after an answer cannot have requested it before."""

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


def test_a_blocked_sender_is_distinguished_from_one_that_has_ended() -> None:
    """Rank 0's second message equals rank 2's message; rank 0 continues only if its message is received."""
    lists: list[list[tuple[Any, ...]]] = [
        [("send", 1, 1, 0), ("send", 1, 1, 1), ("irecv", ANY, 0), ("send", 1, 0, 1)],
        [("irecv", ANY, 1), ("irecv", ANY, -1), ("inform", 0, 0), ("recv", 2, 1), ("irecv", 0, 0)],
        [("send", 1, 1, 1)],
    ]  # fmt: skip
    every, full = outcomes(lists, buffering="zero", reduce=False, strict=False)
    seen, found = outcomes(lists, buffering="zero", strict=False)
    assert seen == every
    assert found.runs == full.runs == 3


def test_a_probe_pending_behind_a_receive_distinguishes_equal_messages() -> None:
    """The probe was pending before the receive took one of the messages, and reads the source of the other."""
    lists: list[list[tuple[Any, ...]]] = [
        [("irecv", ANY, 0), ("probe", ANY, 0), ("recv", ANY, 0)], [("send", 0, 0, 1)], [("send", 0, 0, 1)],
    ]  # fmt: skip
    every, _ = outcomes(lists, buffering="infinite", reduce=False)
    seen, _ = outcomes(lists, buffering="infinite")
    assert seen == every
    assert len([rank for rank, _ in seen if rank == 0]) == 2


def test_a_pending_probe_that_names_a_sender_distinguishes_equal_messages() -> None:
    """The receive is posted after a wildcard receive, and blocks if that one took the only message of this sender."""
    behind: list[list[tuple[Any, ...]]] = [[("send", 0, 0, 1)], [("send", 0, 0, 1)]]
    for look in (("probe", 1, 0), ("probe", 2, 0), ("mprobe", 1, 0), ("mprobe", 2, 0)):
        lists = [[("irecv", ANY, 0), look, ("recv", ANY, 0)], *behind]
        for buffering in ("zero", "infinite"):
            every, full = outcomes(lists, buffering=buffering, reduce=False, strict=False)
            seen, found = outcomes(lists, buffering=buffering, strict=False)
            assert seen == every, (look, buffering)
            assert (found.exhausted, len(found.failures)) == (True, len(full.failures)), (look, buffering)
            assert found.failures, (look, buffering)


def test_receives_of_a_rank_that_has_failed_match_in_every_order() -> None:
    """Rank 1 fails when rank 0 has received; its pending receive matches before or afterwards, and rank 0 ends."""
    lists: list[list[tuple[Any, ...]]] = [
        [("send", 1, 1, 1), ("isend", 1, 0, 1), ("recv", ANY, 1)],
        [("recv", ANY, 1), ("irecv", ANY, 0), ("send", 0, 1, 1), ("fail", 1)],
    ]  # fmt: skip
    every, _ = outcomes(lists, buffering="zero", reduce=False, strict=False)
    seen, _ = outcomes(lists, buffering="zero", strict=False)
    assert seen == every
    assert (0, "[1, ('late', None), 'end']") in seen


def test_senders_that_read_the_clock_distinguish_equal_messages() -> None:
    """The one whose message is received first returns earlier; since clocks are not explored, the verdict reports it."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            comm.recv(source=ANY)
            fakempi.compute(1)
            return comm.recv(source=ANY)
        comm.ssend("x", 0)
        return MPI.Wtime()

    found = fakempi.explore(main, 3, buffering="zero", compare="returns")
    assert [type(one.error) for one in found.failures] == [fakempi.OutcomesDifferError]
    assert found.limits == ["the value that a rank reads from its clock is not explored"]


def test_a_search_with_message_times_is_never_exhausted() -> None:
    """Other times may lead to another order."""
    found = fakempi.explore(collects, 3, cost=fakempi.Hockney())
    assert found.limits == ["the effect of other message times is not explored"]
    assert (found.exhausted, found.part, found.failures) == (False, 1, [])


@st.composite
def programs(draw: Any) -> Any:
    """Lists of steps in which most messages have a matching receive."""
    p = draw(st.integers(2, 4))
    lists: list[list[tuple[Any, ...]]] = [[] for _ in range(p)]
    for _ in range(draw(st.integers(2, 6))):
        source, tag = draw(st.integers(0, p - 1)), draw(st.sampled_from([0, 0, 1]))
        other = draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3]))
        if other:
            more = [("waitany",), ("test",), ("probe", ANY, tag), ("iprobe", ANY, -1), ("fail", 1)]
            more += [(look, draw(st.integers(0, p - 1)), tag) for look in ("probe", "iprobe", "mprobe")]
            lists[source].append(draw(st.sampled_from(more)))
            continue
        dest = draw(st.integers(0, p - 2))
        dest += dest >= source
        lists[source].append(draw(st.sampled_from([("send", dest, tag, 1), ("send", dest, tag, 2), ("inform", dest, tag)])))
        takes = [("recv", ANY, tag), ("recv", ANY, -1), ("ask", ANY, tag), ("recv", source, tag), ("irecv", ANY, tag)]
        lists[dest].append(draw(st.sampled_from(takes)))
    return lists


@settings(max_examples=examples(25), deadline=None)
@given(programs(), st.sampled_from(["zero", "infinite"]))
def test_the_reduced_search_sees_everything_that_the_full_one_sees(lists: Any, buffering: str) -> None:
    """Every observation and failure, in any program."""
    every, full = outcomes(lists, buffering=buffering, runs=300, reduce=False, strict=False)
    if full.part < 1:
        return
    seen, found = outcomes(lists, buffering=buffering, runs=1000, strict=False)
    assert seen == every
    assert found.runs + found.ended_early <= full.runs
    assert found.part == 1
