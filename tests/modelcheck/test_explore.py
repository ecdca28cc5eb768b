"""`explore`: failures, reports and invalid arguments."""

from threading import Lock, Thread
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.modelcheck.search.exploration import percent

ANY = MPI.ANY_SOURCE


def first(comm: Any) -> Any:
    """Return the rank whose message is received first."""
    if comm.rank == 0:
        got = [comm.recv(source=ANY) for _ in range(comm.size - 1)]
        return got[0]
    return comm.send(comm.rank, 0)


def deep(comm: Any) -> Any:
    """Fails if the last sender is first and the first one is last: two deviations of many."""
    got = [comm.recv(source=ANY) for _ in range(comm.size - 1)] if comm.rank == 0 else comm.send(comm.rank, 0)
    assert not got or (got[0], got[-1]) != (comm.size - 1, 1)


def test_the_simplest_schedule_is_shown_and_explained() -> None:
    """No remaining deviation can be removed."""
    found = fakempi.explore(deep, 5, buffering="infinite")
    (failure,) = found.failures
    assert failure.schedule == "i:3.1.1"
    assert failure.why == "rank 0's recv at test_explore.py:26 took rank 3's message; with rank 1's message the run succeeds"
    assert (found.runs, failure.times, found.exhausted) == (24, 2, True)
    assert found.verdict == "2 of 24 schedules fail"


def test_the_page_shows_the_failing_and_the_successful_schedule() -> None:
    """Two traces, for `fakempi view`, in which messages take time."""
    (failure,) = fakempi.explore(deep, 4, buffering="zero").failures
    fails, passes = failure.traces()
    assert passes is not None
    assert fails.ranks == passes.ranks == 4
    assert passes.time > 0
    assert str(failure).startswith("rank 0 failed with AssertionError")


def test_a_failure_is_one_for_each_error_and_place() -> None:
    """The search continues after a failure, unless `stop` is given."""

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


def test_a_send_that_waits_changes_the_outcome() -> None:
    """Two ranks that both send first."""

    def main(comm: Any) -> None:
        comm.send(None, 1 - comm.rank)
        comm.recv(source=1 - comm.rank)

    (failure,) = fakempi.explore(main, 2).failures
    assert failure.why == (
        "with zero buffering every send waits for its receive; with infinite buffering the run succeeds (unsafe-send)"
    )
    (unsafe,) = failure.error.findings
    assert (unsafe.kind, unsafe.ranks, unsafe.call) == ("unsafe-send", (0, 1), "send")
    assert (failure.schedule, failure.passes) == ("z:0", "i:0")


def test_results_that_depend_on_the_schedule_are_reported() -> None:
    """With `compare="returns"`, and with the choice that made the difference."""
    assert fakempi.explore(first, 3).failures == []
    found = fakempi.explore(first, 3, compare="returns", buffering="zero")
    (failure,) = found.failures
    assert isinstance(failure.error, fakempi.OutcomesDifferError)
    assert str(failure.error) == "rank 0 returns 2 in schedule z:1, but 1 in schedule z:0"
    assert failure.why.endswith("took rank 2's message; with rank 1's message the outcome is the other one")


def test_an_incomplete_search_is_reported_as_such() -> None:
    """Schedules with few deviations first, and a part of the budget at random: the same for the same seed."""
    found = [fakempi.explore(first, 7, runs=40, seed=seed, buffering="infinite", compare="returns") for seed in (1, 1)]
    assert [one.exhausted for one in found] == [False, False]
    assert found[0].method == "fewest deviations first, 10 by bounded mixing (up to 1 choice apart), 10 at random"
    assert 0 < found[0].part < 1
    assert str(found[0]) == str(found[1])
    assert [percent(part) for part in (0.0001, 0.004, 0.03, 0.999)] == ["0.1 % at most", "0.4 %", "3 %", "99 %"]


def rounds(comm: Any, number: int) -> None:
    """In each round all others send to rank 0; the program fails if only the last round is reversed."""
    orders = []
    for _ in range(number):
        if comm.rank == 0:
            orders.append([comm.recv(source=ANY) for _ in range(comm.size - 1)])
        else:
            comm.send(comm.rank, 0)
        comm.bcast(None)
    assert not orders or orders[-2:] != [[1, 2, 3], [3, 2, 1]]


@pytest.mark.sample
@pytest.mark.slow
def test_deviations_that_are_close_together_are_tried_everywhere() -> None:
    """With a bound, the number of runs grows linearly with the length of a program; the verdict names the bound."""
    counts = []
    for number in (2, 4, 6):
        found = fakempi.explore(rounds, 4, number, buffering="infinite", collectives="minimal", mixing=1)
        counts.append(found.runs)
        (failure,) = found.failures
        assert failure.schedule == ("i:0.0.2.1" if number == 2 else f"i:0x{2 * number - 2}.2.1")
        assert found.limits == ["no two deviations are more than 1 choice apart"]
        assert (found.exhausted, found.part) == (False, 1)
    assert counts == [13, 27, 41]
    assert fakempi.explore(rounds, 4, 3, buffering="infinite", mixing=0).failures == []


def test_a_loop_of_tests_is_bounded_and_not_called_exhausted() -> None:
    """A test may report "not yet" any number of times; the search tries 16 times in a row."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            request = comm.irecv(source=1)
            while not request.test()[0]:
                pass
        else:
            comm.send(None, 0)

    found = fakempi.explore(main, 2)
    assert (found.exhausted, found.part, found.failures) == (False, 1, [])
    assert found.limits == ['no test reports "not yet" more than 16 times in a row while something else can happen']
    assert found.verdict.startswith("clean so far: 34 schedules, but no test reports")


def test_a_loop_of_tests_that_never_ends_is_a_livelock() -> None:
    """The search ends."""

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
    assert fakempi.run(first, 3, schedule="z:0").findings[0].note


def test_messages_between_two_groups_are_explored() -> None:
    """They are named by their ranks in the other group."""

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
    """They are named by their ranks among the processes spawned together."""
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


def test_two_spawning_ranks_cost_the_product_of_their_orders_only(tmp_path: Any) -> None:
    """Each of two ranks receives from its own children in two orders; all four pairs are seen, in 24 schedules."""
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

    found = fakempi.explore(main, 2, buffering="infinite", ignore_shared=True)
    assert (found.runs, found.exhausted, found.failures, len(seen)) == (4, True, [], 4)
    assert found.method == "fewest deviations first, no state comparison because of spawned processes"


def test_the_number_of_reported_failures_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further ones are counted."""
    monkeypatch.setattr("fakempi.modelcheck.search.progress.MAX_FAILURES", 2)

    def main(comm: Any) -> Any:
        if comm.rank:
            return comm.send(comm.rank, 0)
        first, *_ = [comm.recv(source=ANY) for _ in range(4)]
        raise [ValueError, KeyError, TypeError, OSError][first - 1]

    found = fakempi.explore(main, 5, buffering="infinite")
    assert (len(found.failures), found.others, found.exhausted) == (2, 12, True)
    assert found.verdict == "24 of 24 schedules fail, in more than 2 ways"


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
def test_orders_of_lock_acquisition_are_explored(backend: Any) -> None:
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

    found = fakempi.explore(main, 1, buffering="infinite", backend=backend)
    assert [type(failure.error).__name__ for failure in found.failures] == ["DeadlockError"]
    assert not found.exhausted
    assert found.limits == ["the order in which threads of one rank call MPI is not explored"]


def test_a_search_with_a_cancelled_receive_is_not_exhausted() -> None:
    """MPI leaves open whether the cancellation succeeds."""

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


def test_a_nondeterministic_program_is_reported() -> None:
    """A global variable grows from run to run."""
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
    assert any("the program is not deterministic" in word for word in found.limits)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"runs": 0}, r"^explore: runs is 0; it must be at least 1\.$"),
        ({"mixing": -1}, r"^explore: mixing must be a number of choices, 0 or more, or None, not -1\.$"),
        ({"stop": "soon"}, r"^explore: stop must be 'first' or None, not 'soon'\.$"),
        ({"compare": "prints"}, r"^explore: compare must be 'returns', 'output', 'lines' or None, not 'prints'\.$"),
        ({"seconds": 0}, r"^explore: seconds must be a positive number of seconds, or None, not 0\.$"),
        ({"seconds": float("nan")}, r"^explore: seconds must be a positive number of seconds, or None, not nan\.$"),
        ({"buffering": ()}, r"^explore: buffering \(\) is unknown; choose from zero, infinite and size\.$"),
        ({"buffering": "some"}, r"^explore: buffering some is unknown; choose from zero, infinite and size\.$"),
    ],
)
def test_invalid_arguments_are_rejected(given: dict[str, Any], words: str) -> None:
    """The message lists valid ones."""
    with pytest.raises(MPI.Exception, match=words):
        fakempi.explore(first, 2, **given)


@pytest.mark.parametrize(("senders", "exhausted"), [(2, True), (5, False)])
def test_waitsome_tries_all_subsets_of_few_requests(senders: int, exhausted: bool) -> None:
    """Any subset of up to four completed requests; for more, the verdict reports that not all were tried."""

    def main(comm: Any) -> Any:
        if comm.rank:
            return comm.send(comm.rank, 0)
        requests = [comm.irecv(source=source) for source in range(1, comm.size)]
        MPI.Request.waitsome(requests)
        return MPI.Request.waitall(requests)

    found = fakempi.explore(main, senders + 1, buffering="zero")
    assert (found.failures, found.exhausted) == ([], exhausted)
    assert found.runs == (3 if exhausted else 6)


def test_a_search_with_a_port_is_not_exhausted() -> None:
    """Modeled time decides which message is received first."""

    def main(comm: Any) -> None:
        port = MPI.Open_port()
        MPI.Close_port(port)

    assert fakempi.explore(main, 1).limits == ["which group reaches a port first is not explored"]


def test_results_of_parrived_are_explored() -> None:
    """Parrived may report "not yet", also if the send is not known when it is called, and in each round again."""

    def main(comm: Any) -> Any:
        request = comm.Psend_init(bytearray(6), 3, 1) if comm.rank == 0 else comm.Precv_init(bytearray(6), 2, 0, 0)
        requested = []
        for _ in range(2):
            request.Start()
            if comm.rank == 0:
                request.Pready_list([2, 0, 1])
            else:
                requested.append(request.Parrived(1))
            request.Wait()
        request.Free()
        seen.add(tuple(requested))

    seen: set[Any] = set()
    found = fakempi.explore(main, 2, ignore_shared=True)
    assert (found.exhausted, found.runs, found.failures) == (True, 16, [])
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
def test_messages_left_in_mailboxes_are_a_failure_in_every_schedule(program: Any, kind: str) -> None:
    """A steered run has separate mailboxes: they were once not checked, and a lost message was reported as clean."""
    (failure,) = fakempi.explore(program, 2, buffering="infinite").failures
    assert isinstance(failure.error, fakempi.FindingsError)
    assert [(one.kind, one.ranks) for one in failure.error.findings] == [(kind, (0,))]
    with pytest.raises(fakempi.FindingsError, match=f"{kind}: rank 0: "):
        fakempi.run(program, 2, schedule=failure.schedule, strict=True)


class Pair:
    """An object of the program without an equality method."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts


@pytest.mark.parametrize(
    "result",
    [
        lambda: float("nan"), lambda: np.array([np.nan]), lambda: np.array([]), lambda: (1, {"a": np.zeros((2, 2))}),
        lambda: Pair(1, [np.arange(3), Pair(None)]), lambda: {1, 2}, lambda: np.array([0.0, -0.0]) * 1, lambda: None,
    ],
)  # fmt: skip
def test_equal_results_of_all_types_are_equal(result: Any) -> None:
    """NaN, and objects without an equality method, were once reported as different."""
    assert fakempi.explore(lambda comm: result(), 2, compare="returns").exhausted


@pytest.mark.parametrize("result", [Pair, lambda rank: np.array([rank]), lambda rank: [Pair(rank)], lambda rank: {rank: 1}])
def test_different_results_of_all_types_are_reported(result: Any) -> None:
    """Inside objects, too."""
    found = fakempi.explore(lambda comm: result(first(comm)), 3, compare="returns", buffering="zero")
    assert found.verdict == "1 of 2 schedules fails"


def test_results_that_cannot_be_compared_are_reported() -> None:
    """Functions cannot be compared."""
    found = fakempi.explore(lambda comm: lambda: comm, 2, compare="returns")
    assert found.verdict == "clean so far: 2 schedules, but results of type function cannot be compared"


def test_a_repeated_buffering_is_tried_once() -> None:
    """Its schedules were once counted twice."""
    assert fakempi.explore(first, 3, buffering=("zero", "zero")).verdict == "clean: all 2 schedules with no buffering"
