"""`explore`: what it finds, says, and refuses."""

from threading import Lock, Thread
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.exploring.found import percent

ANY = MPI.ANY_SOURCE


def first(comm: Any) -> Any:
    """Who comes first is returned."""
    if comm.rank == 0:
        got = [comm.recv(source=ANY) for _ in range(comm.size - 1)]
        return got[0]
    return comm.send(comm.rank, 0)


def deep(comm: Any) -> Any:
    """Fails if the last sender is first and the first one is last: two deviations of many."""
    got = [comm.recv(source=ANY) for _ in range(comm.size - 1)] if comm.rank == 0 else comm.send(comm.rank, 0)
    assert not got or (got[0], got[-1]) != (comm.size - 1, 1)


def test_the_simplest_schedule_is_shown_and_explained() -> None:
    """No deviation that is left can be left out."""
    found = fakempi.explore(deep, 5, buffering="infinite")
    (failure,) = found.failures
    assert failure.decisions == "i:3.1.1"
    assert failure.why == "rank 0's recv at test_explore.py:26 took rank 3's message; with rank 1's all went well"
    assert (found.runs, failure.times, found.exhausted) == (24, 2, True)
    assert found.verdict == "2 of 24 schedules fail"


def test_what_goes_well_is_beside_what_fails() -> None:
    """Two traces, for `fakempi view`, in which messages take time."""
    (failure,) = fakempi.explore(deep, 4, buffering="zero").failures
    fails, passes = failure.traces()
    assert fails.ranks == passes.ranks == 4
    assert passes.time > 0
    assert str(failure).startswith("rank 0 failed with AssertionError")


def test_a_failure_is_one_for_each_error_and_place() -> None:
    """And the search goes on after it, unless told to stop."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            got = comm.recv(source=ANY)
            assert got != 2, got
            if got == 3:
                raise KeyError(got)
            comm.recv(source=ANY)
            comm.recv(source=ANY)
        else:
            comm.send(comm.rank, 0)

    found = fakempi.explore(main, 4, buffering="zero")
    assert [type(failure.error.exception).__name__ for failure in found.failures] == ["AssertionError", "KeyError"]  # type: ignore[attr-defined]
    assert len(fakempi.explore(main, 4, buffering="zero", stop="first").failures) == 1


def test_a_send_that_waits_makes_the_difference() -> None:
    """Two ranks that both send first."""

    def main(comm: Any) -> None:
        comm.send(None, 1 - comm.rank)
        comm.recv(source=1 - comm.rank)

    (failure,) = fakempi.explore(main, 2).failures
    assert failure.why == (
        "in zero buffering, where every send waits for its receive; in infinite buffering all went well (unsafe-send)"
    )
    (unsafe,) = failure.error.findings
    assert (unsafe.kind, unsafe.ranks, unsafe.call) == ("unsafe-send", (0, 1), "send")
    assert (failure.decisions, failure.passes) == ("z:0", "i:0")


def test_returns_that_hang_on_the_schedule_are_told() -> None:
    """With `compare="returns"`, and with the choice that made the difference."""
    assert fakempi.explore(first, 3).failures == []
    found = fakempi.explore(first, 3, compare="returns", buffering="zero")
    (failure,) = found.failures
    assert isinstance(failure.error, fakempi.OutcomesDiffer)
    assert str(failure.error) == "rank 0 returns 2 in schedule z:1, and 1 in z:0"
    assert failure.why.endswith("took rank 2's message; with rank 1's all went well")


def test_what_is_too_large_is_said_to_be_so() -> None:
    """Fewest deviations first, and a part of the budget by chance: the same for the same seed."""
    found = [fakempi.explore(first, 7, runs=40, seed=seed, buffering="infinite", compare="returns") for seed in (1, 1)]
    assert [one.exhausted for one in found] == [False, False]
    assert found[0].method == "fewest deviations first, 10 by bounded mixing (up to 1 choice apart), 10 by chance"
    assert 0 < found[0].part < 1
    assert str(found[0]) == str(found[1])
    assert [percent(part) for part in (0.0001, 0.004, 0.03, 0.999)] == ["0.1 % at most", "0.4 %", "3 %", "99 %"]


def rounds(comm: Any, number: int) -> None:
    """In each round all others send to rank 0; it is wrong if the last round is turned round, and no other is."""
    orders = []
    for _ in range(number):
        if comm.rank == 0:
            orders.append([comm.recv(source=ANY) for _ in range(comm.size - 1)])
        else:
            comm.send(comm.rank, 0)
        comm.bcast(None)
    assert not orders or orders[-2:] != [[1, 2, 3], [3, 2, 1]]


def test_deviations_that_are_near_each_other_are_tried_everywhere() -> None:
    """With a bound, the number of runs grows with the length of a program and not like a power; and the bound is said."""
    counts = []
    for number in (2, 4, 6):
        found = fakempi.explore(rounds, 4, number, buffering="infinite", mixing=1)
        counts.append(found.runs)
        (failure,) = found.failures
        assert failure.decisions == ("i:0.0.2.1" if number == 2 else f"i:0x{2 * number - 2}.2.1")
        assert found.limits == ["no two deviations are more than 1 choice apart"]
        assert (found.exhausted, found.part) == (False, 1)
    assert counts == [13, 27, 41]
    assert fakempi.explore(rounds, 4, 3, buffering="infinite", mixing=0).failures == []


def test_a_loop_of_tests_is_bounded_and_not_called_exhausted() -> None:
    """A test may say "not yet" any number of times; it does so twice in a row."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            request = comm.irecv(source=1)
            while not request.test()[0]:
                pass
        else:
            comm.send(None, 0)

    found = fakempi.explore(main, 2)
    assert (found.exhausted, found.part, found.failures) == (False, 1, [])
    assert found.limits == ['no test says "not yet" more than 2 times in a row if there is something else']
    assert found.verdict.startswith("clean so far: 6 schedules, but no test says")


def test_a_loop_of_tests_that_never_ends_is_a_livelock() -> None:
    """And ends."""

    def main(comm: Any) -> None:
        request = comm.irecv(source=1 - comm.rank)
        while not request.test()[0]:
            pass

    found = fakempi.explore(main, 2, buffering="zero", runs=5)
    assert isinstance(found.failures[0].error, fakempi.LivelockError)


def test_findings_are_failures_in_strict_searches_and_notes_never_are() -> None:
    """A wildcard race may be intended."""
    found = fakempi.explore(first, 3)
    assert found.failures == []
    assert fakempi.run(first, 3, decisions="z:0").findings[0].note


def test_messages_between_two_groups_are_explored() -> None:
    """By their ranks in the other group."""

    def main(comm: Any) -> None:
        half = comm.Split(comm.rank < 1)
        between = half.Create_intercomm(0, comm, int(comm.rank < 1))
        if comm.rank == 0:
            assert [between.recv(source=ANY), between.recv(source=ANY)] == [0, 1]
        else:
            between.send(between.rank, 0)
        between.Free()
        half.Free()

    found = fakempi.explore(main, 3)
    assert (found.runs, found.exhausted, len(found.failures)) == (4, True, 1)


def test_messages_of_spawned_processes_are_explored(tmp_path: Any) -> None:
    """By their ranks among those that were spawned together."""
    script = tmp_path / "child.py"
    script.write_text(
        "from mpi4py import MPI\nup = MPI.Comm.Get_parent()\nup.send(MPI.COMM_WORLD.rank, 0)\nup.Disconnect()\n"
    )

    def main(comm: Any) -> None:
        down = comm.Spawn("python", [str(script)], 2)
        got = [down.recv(source=ANY), down.recv(source=ANY)]
        down.Disconnect()
        assert got == [0, 1]

    found = fakempi.explore(main, 1, buffering="zero")
    assert (found.runs, found.exhausted, len(found.failures)) == (2, True, 1)
    assert "took the message of rank 1 of the group spawned at " in found.failures[0].why


def test_two_that_spawn_cost_the_product_of_their_orders_and_not_whose_turn_it_is(tmp_path: Any) -> None:
    """Each of two ranks hears its own children in two orders; all four pairs are seen, of 24 schedules."""
    script = tmp_path / "child.py"
    script.write_text(
        "from mpi4py import MPI\nup = MPI.Comm.Get_parent()\nup.send(MPI.COMM_WORLD.rank, 0)\nup.Disconnect()\n"
    )
    seen = set()

    def main(comm: Any) -> None:
        down = MPI.COMM_SELF.Spawn("python", [str(script)], 2)
        got = down.recv(source=ANY), down.recv(source=ANY)
        down.Disconnect()
        seen.add(tuple(comm.allgather(got)))

    found = fakempi.explore(main, 2, buffering="infinite")
    assert (found.runs, found.exhausted, found.failures, len(seen)) == (4, True, [], 4)
    assert found.method == "fewest deviations first, no states compared because of spawned processes"


def test_no_more_kinds_of_failures_are_kept_than_anybody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are counted."""
    monkeypatch.setattr("fakempi.exploring.explore.KINDS", 2)

    def main(comm: Any) -> Any:
        if comm.rank:
            return comm.send(comm.rank, 0)
        first, *_ = [comm.recv(source=ANY) for _ in range(4)]
        raise [ValueError, KeyError, TypeError, OSError][first - 1]

    found = fakempi.explore(main, 5, buffering="infinite")
    assert (len(found.failures), found.others, found.exhausted) == (2, 12, True)
    assert found.verdict == "24 of 24 schedules fail, in more than 2 ways"


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
def test_who_gets_a_lock_is_explored(carrier: str) -> None:
    """Two threads of a rank, and two locks in opposite order."""

    def main(comm: Any) -> None:
        one, two = Lock(), Lock()

        def work(first: Any, second: Any) -> None:
            with first:
                comm.sendrecv(None, 0, source=0)
                with second:
                    pass

        threads = [Thread(target=work, args=locks, name=name) for name, locks in (("a", (one, two)), ("b", (two, one)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    found = fakempi.explore(main, 1, buffering="infinite", carrier=carrier)
    assert [type(failure.error).__name__ for failure in found.failures] == ["DeadlockError"]
    assert not found.exhausted
    assert found.limits == ["the order in which threads of one rank call MPI is not explored"]


def test_a_cancelled_receive_is_not_called_explored() -> None:
    """Of which MPI leaves open whether it is in time."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            request = comm.irecv(source=ANY)
            request.Cancel()
            request.wait()
            comm.recv(source=ANY)
        else:
            comm.send(None, 0)

    found = fakempi.explore(main, 2)
    assert not found.exhausted
    assert found.limits == ["Cancel is not explored"]


def test_a_program_that_is_another_one_each_time_is_told() -> None:
    """By a global that grows from run to run."""
    runs: list[int] = []

    def main(comm: Any) -> None:
        if comm.rank == 0:
            runs.append(0)
            for _ in range(comm.size - 1):
                comm.recv(source=ANY, tag=len(runs) % 2)
        else:
            comm.send(comm.rank, 0, tag=0)
            comm.send(comm.rank, 0, tag=1)

    found = fakempi.explore(main, 3, buffering="infinite", strict=False)
    assert not found.exhausted
    assert "the program is not the same in each run" in found.limits[-1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"runs": 0}, r"^explore: runs is 0; there must be at least 1\.$"),
        ({"mixing": -1}, r"^explore: mixing must be a number of choices, 0 or more, or None, not -1\.$"),
        ({"stop": "soon"}, r"^explore: stop must be 'first' or None, not 'soon'\.$"),
        ({"compare": "prints"}, r"^explore: compare must be 'returns' or None, not 'prints'\.$"),
        ({"buffering": "some"}, r"^explore: buffering some is unknown; there are zero and infinite\.$"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], words: str) -> None:
    """With what there is."""
    with pytest.raises(MPI.Exception, match=words):
        fakempi.explore(first, 2, **given)


@pytest.mark.parametrize(("senders", "exhausted"), [(2, True), (5, False)])
def test_some_of_many_requests_are_all_or_one(senders: int, exhausted: bool) -> None:
    """Of up to four that have ended any; of more it is said that not all was tried."""

    def main(comm: Any) -> Any:
        if comm.rank:
            return comm.send(comm.rank, 0)
        requests = [comm.irecv(source=source) for source in range(1, comm.size)]
        MPI.Request.waitsome(requests)
        return MPI.Request.waitall(requests)

    found = fakempi.explore(main, senders + 1, buffering="zero")
    assert (found.failures, found.exhausted) == ([], exhausted)
    assert found.runs == (3 if exhausted else 6)


def test_a_port_is_not_called_explored() -> None:
    """Who comes first is left to time."""

    def main(comm: Any) -> None:
        port = MPI.Open_port()
        MPI.Close_port(port)

    assert fakempi.explore(main, 1).limits == ["who comes to a port first is not explored"]


def test_whether_a_partition_has_come_is_explored() -> None:
    """Parrived may say "not yet", also where the send is not known when it is asked, and in each round anew."""

    def main(comm: Any) -> Any:
        request = comm.Psend_init(bytearray(6), 3, 1) if comm.rank == 0 else comm.Precv_init(bytearray(6), 2, 0, 0)
        asked = []
        for _ in range(2):
            request.Start()
            if comm.rank == 0:
                request.Pready_list([2, 0, 1])
            else:
                asked.append(request.Parrived(1))
            request.Wait()
        request.Free()
        seen.add(tuple(asked))

    seen: set[Any] = set()
    found = fakempi.explore(main, 2)
    assert (found.exhausted, found.runs, found.failures) == (True, 8, [])
    assert seen == {(), (True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (lambda comm: comm.send("x", 1) if comm.rank == 0 else None, "message-lost"),
        (lambda comm: comm.Send(bytearray(4), 1) if comm.rank == 0 else None, "message-lost"),
        (lambda comm: comm.isend("x", 1).wait() if comm.rank == 0 else None, "message-lost"),
        (lambda comm: comm.irecv(source=1) if comm.rank == 0 else None, "receive-unmatched"),
        (lambda comm: comm.irecv(source=ANY) if comm.rank == 0 else None, "receive-unmatched"),
    ],
)
def test_what_is_left_in_mailboxes_is_a_failure_in_every_schedule(program: Any, kind: str) -> None:
    """A steered run has mailboxes of its own: they were not looked into, and a lost message was called clean."""
    (failure,) = fakempi.explore(program, 2, buffering="infinite").failures
    assert isinstance(failure.error, fakempi.FindingsError)
    assert [(one.kind, one.ranks) for one in failure.error.findings] == [(kind, (0,))]
    with pytest.raises(fakempi.FindingsError, match=f"{kind}: rank 0: "):
        fakempi.run(program, 2, decisions=failure.decisions, strict=True)


class Pair:
    """An object of a program's own, which does not say when it is equal."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts


@pytest.mark.parametrize(
    "result",
    [
        lambda: float("nan"), lambda: np.array([np.nan]), lambda: np.array([]), lambda: (1, {"a": np.zeros((2, 2))}),
        lambda: Pair(1, [np.arange(3), Pair(None)]), lambda: {1, 2}, lambda: np.array([0.0, -0.0]) * 1, lambda: None,
    ],
)  # fmt: skip
def test_equal_results_are_equal_whatever_they_are(result: Any) -> None:
    """NaN, and objects that do not compare themselves, were said to differ."""
    assert fakempi.explore(lambda comm: result(), 2, compare="returns").exhausted


@pytest.mark.parametrize("result", [Pair, lambda rank: np.array([rank]), lambda rank: [Pair(rank)], lambda rank: {rank: 1}])
def test_results_that_differ_are_told_whatever_they_are(result: Any) -> None:
    """Inside of objects, too."""
    found = fakempi.explore(lambda comm: result(first(comm)), 3, compare="returns", buffering="zero")
    assert found.verdict == "1 of 2 schedules fails"


def test_results_that_cannot_be_compared_are_told() -> None:
    """Nobody knows whether two functions do the same."""
    found = fakempi.explore(lambda comm: lambda: comm, 2, compare="returns")
    assert found.verdict == "clean so far: 2 schedules, but results of type function cannot be compared"
