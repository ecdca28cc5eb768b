"""Polling in explored runs: fair scheduling, time-outs that expire, reported livelocks, and the bound on "not yet".
"""

from types import SimpleNamespace
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.errors import MPIValueError
from fakempi.modelcheck.steering.fairness import MAX_AHEAD, Turns
from fakempi.modelcheck.steering.points import NOT_YET, Probe

ANY = MPI.ANY_SOURCE


def consensus(comm: Any) -> Any:
    """Nonblocking consensus: synchronous sends, a loop of probes, and a barrier once the rank's messages are received."""
    targets = range(1, comm.size) if comm.rank == 0 else [(comm.rank + 1) % comm.size]
    sends = [comm.issend((comm.rank, dest), dest, tag=5) for dest in targets]
    barrier, got, status = None, [], MPI.Status()
    while True:
        if comm.iprobe(ANY, 5, status):
            got.append(comm.recv(source=status.source, tag=5))
        if barrier is None:
            if MPI.Request.Testall(sends):
                barrier = comm.Ibarrier()
        elif barrier.Test():
            return sorted(got)


def token_ring(comm: Any) -> Any:
    """Termination detection by polling: a token goes around twice, and ranks compute in between."""
    right, rounds = (comm.rank + 1) % comm.size, 0
    if comm.rank == 0:
        comm.isend("token", right).wait()
    while rounds < 2:
        if comm.iprobe(ANY):
            comm.recv(source=ANY)
            rounds += 1
            if (comm.rank, rounds) != (0, 2):
                comm.isend("token", right).wait()
        fakempi.compute(1e-3)
    return rounds


def any_and_some(comm: Any) -> Any:
    """Rank 0 takes messages by Testany, then by Testsome; the others test their sends."""
    if comm.rank:
        sends = [comm.isend(i, 0, tag=i) for i in range(2)]
        while not MPI.Request.testall(sends)[0]:
            pass
        return None
    left = [comm.irecv(source=source, tag=0) for source in range(1, comm.size)]
    while left:
        index, flag, _ = MPI.Request.testany(left)
        if flag:
            left.pop(index)
    left = [comm.irecv(source=source, tag=1) for source in range(1, comm.size)]
    while left:
        indices, _ = MPI.Request.testsome(left)
        left = [one for i, one in enumerate(left) if i not in (indices or ())]
    return None


def counts_to_300(comm: Any) -> None:
    """A loop that does something else after 300 unsuccessful tests."""
    tests = 0
    if comm.rank == 0:
        request = comm.irecv(source=1)
        while not request.test()[0]:
            tests += 1
            if tests == 300:
                comm.send(None, 1)
    elif comm.rank == 1:
        comm.recv(source=0)
        comm.send(None, 0)


def waits_for_the_clock(comm: Any) -> None:
    """A time-out by the modeled clock."""
    if comm.rank == 0:
        request, start, sent = comm.irecv(source=1), MPI.Wtime(), False
        while not request.test()[0]:
            if not sent and MPI.Wtime() > start + 10:
                comm.send(None, 1)
                sent = True
    elif comm.rank == 1:
        comm.recv(source=0)
        comm.send(None, 0)


def probes_every_source(comm: Any) -> None:
    """Rank 0 probes until it has seen a message of the last rank, which a fair probe reports eventually."""
    if comm.rank:
        comm.send(None, 0)
        return
    status = MPI.Status()
    comm.probe(1)
    comm.probe(comm.size - 1)
    while status.source != comm.size - 1:
        comm.iprobe(ANY, status=status)
    for _ in range(comm.size - 1):
        comm.recv(source=ANY)


CORRECT = [consensus, token_ring, any_and_some, counts_to_300, waits_for_the_clock]


@pytest.mark.quick(1)
@pytest.mark.parametrize("program", [*CORRECT, probes_every_source])
def test_a_correct_program_that_polls_never_livelocks(program: Any) -> None:
    """In any schedule, including random ones and ones that prefer one rank as long as possible."""
    runs = 4 if program in (counts_to_300, waits_for_the_clock) else 40  # hundreds of polls in each
    for p in (2, 3):
        found = fakempi.explore(program, p, runs=runs, seed=p)
        assert not found.failures, found


def test_a_rank_that_polls_is_at_most_64_turns_ahead_of_one_that_can_run() -> None:
    """The documented number, not one more."""
    turns = Turns(SimpleNamespace(events=0))
    points = [Probe.__new__(Probe) for _ in range(3)]
    for number, point in enumerate(points):
        point.task, point.takes = number, False
    options = [SimpleNamespace(point=point, value=NOT_YET) for point in points]
    lead = 0
    for _ in range(1000):
        excluded = turns.excluded(options, 10**9, {}, id)
        turns.turn_taken(options, next(option for i, option in enumerate(options) if i not in excluded))
        lead = max(lead, turns.turns[0] - turns.turns.get(2, 0))
    assert lead == MAX_AHEAD == 64


@pytest.mark.slow
def test_consensus_on_four_ranks_is_clean_in_hundreds_of_schedules() -> None:
    """The nonblocking consensus once failed in about one of 15 schedules, when turns were counted over all ranks."""
    for p in (2, 4):
        assert not fakempi.explore(consensus, p, runs=150, seed=1).failures


@pytest.mark.parametrize("program", CORRECT)
def test_a_correct_program_that_polls_ends_in_plain_runs(program: Any) -> None:
    """With any seed, with and without buffering."""
    for p, seed in [(2, 1)] if program is waits_for_the_clock else [(2, None), (3, 1), (5, 2)]:
        for limit in (0, 1 << 16):
            run = fakempi.run(program, p, seed=seed, cost=fakempi.Hockney(eager_limit=limit))
            assert len(run.returns) == p
            assert run.findings == []


def no_rank_sends(comm: Any) -> None:
    """No rank sends."""
    if comm.rank == 0:
        request = comm.irecv(source=1)
        while not request.test()[0]:
            pass


def probes_what_is_there(comm: Any) -> None:
    """A probe always finds its message, and the test never does."""
    if comm.rank == 0:
        request = comm.irecv(source=1, tag=9)
        while not request.test()[0]:
            comm.iprobe(source=1, tag=1)
    elif comm.rank == 1:
        comm.isend(None, 0, tag=1)


def polls_get_status(comm: Any) -> None:
    """Get_status leaves a completed request as it is."""
    if comm.rank == 0:
        done, never = comm.irecv(source=1, tag=1), comm.irecv(source=1, tag=9)
        while not never.Get_status():
            done.Get_status()
    elif comm.rank == 1:
        comm.send(None, 0, tag=1)


def computes_and_tests(comm: Any) -> None:
    """Time passes, and nothing else happens."""
    if comm.rank == 0:
        request = comm.irecv(source=1)
        while not request.test()[0]:
            fakempi.compute(1.0)


def all_poll(comm: Any) -> None:
    """Every rank waits for its neighbor to begin."""
    while not comm.iprobe((comm.rank + 1) % comm.size):
        pass
    comm.send(None, (comm.rank - 1) % comm.size)


WRONG = [no_rank_sends, probes_what_is_there, polls_get_status, computes_and_tests, all_poll]


@pytest.mark.quick(3)
@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@pytest.mark.parametrize("program", WRONG)
def test_a_livelock_is_reported_in_every_schedule(program: Any, backend: Any) -> None:
    """Also if calls succeed repeatedly, and if time passes."""
    found = fakempi.explore(program, 2, runs=8, backend=backend)
    assert found.failures
    assert all(isinstance(one.error, fakempi.LivelockError) for one in found.failures)
    assert sum(one.times for one in found.failures) == found.runs
    with pytest.raises(fakempi.LivelockError, match="nothing can change that"):
        fakempi.run(program, 2, schedule=found.failures[0].schedule, strict=True)


@pytest.mark.slow
def test_a_loop_that_counts_polls_is_stopped_with_their_number() -> None:
    """It cannot be decided whether it ends at some number, and the report does not claim to know."""

    def main(comm: Any) -> None:
        request, tests = comm.irecv(source=0), 0
        while not request.test()[0]:
            tests += 1

    (failure,) = fakempi.explore(main, 1, runs=2, buffering="zero").failures
    assert "2,000 polls in a row found nothing" in str(failure)


def gives_up(comm: Any, tries: int) -> None:
    """Rank 0 drops a message if it has not arrived after some tests."""
    if comm.rank == 0:
        request = comm.irecv(source=1)
        if not any(request.test()[0] for _ in range(tries)):
            raise TimeoutError
    else:
        comm.send(None, 0)


@pytest.mark.slow
def test_the_bound_on_polling_grows_until_a_bounded_loop_ends() -> None:
    """By default up to 16 tests in a row; with `polls`, up to that number."""
    for tries in (1, 3, 5, 12):
        (failure,) = fakempi.explore(gives_up, 2, tries).failures
        assert type(failure.error.exception) is TimeoutError  # type: ignore[attr-defined]
        assert not fakempi.explore(gives_up, 2, tries, polls=tries - 1).failures
        assert fakempi.explore(gives_up, 2, tries, polls=tries).failures
    found = fakempi.explore(gives_up, 2, 40)
    assert found.limits == ['no test reports "not yet" more than 16 times in a row while something else can happen']
    assert not found.exhausted
    assert fakempi.explore(gives_up, 2, 40, polls=40).failures


def test_tokens_do_not_depend_on_the_bound_on_polling() -> None:
    """Numbers of options do not depend on the bound, so failures of a deep search replay without it."""
    for polls in (7, 20):
        (failure,) = fakempi.explore(gives_up, 2, 7, polls=polls, buffering="infinite").failures
        assert failure.schedule == "i:1x7"
    with pytest.raises(fakempi.RankError):
        fakempi.run(gives_up, 2, 7, schedule="i:1x7")


@pytest.mark.sample
@pytest.mark.slow
def test_the_largest_bound_that_was_completed_is_named() -> None:
    """A budget that ends within a bound leaves the previous one."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            for _ in range(3):
                request = comm.irecv(source=1)
                while not request.test()[0]:
                    pass
        else:
            for _ in range(3):
                comm.isend(None, 0).wait()

    words = []
    for runs in (40, 120, 300):
        found = fakempi.explore(main, 2, runs=runs, buffering="infinite")
        assert found.runs + found.ended_early <= runs
        assert (found.exhausted, found.part) == (False, 1.0)
        words += found.limits
    bounds = [int(word.split(" times")[0].rpartition(" ")[2]) for word in words]
    assert 2 <= bounds[0] < bounds[1] < bounds[2] < 16


@pytest.mark.parametrize("polls", [-1, 1.5, True, "2"])
def test_an_invalid_bound_on_polling_is_rejected(polls: Any) -> None:
    """The message names it."""
    with pytest.raises(MPIValueError, match="explore: polls must be an integer"):
        fakempi.explore(gives_up, 2, 1, polls=polls)


def test_reported_completion_stays_reported() -> None:
    """After a successful probe, Get_status or Parrived, a call that must find the same does not report "not yet"."""

    def probes(comm: Any) -> None:
        if comm.rank == 0:
            comm.probe(1)
            assert comm.iprobe(ANY)
            assert comm.iprobe(1)
            comm.improbe(ANY).recv()
        elif comm.rank == 1:
            comm.send(None, 0)

    def one_of_two(comm: Any) -> None:
        if comm.rank == 0:
            comm.probe(ANY)
            assert comm.iprobe(ANY)
            seen = comm.iprobe(1), comm.iprobe(2)
            assert any(seen), "not certain: the message may be the other one"
            for _ in range(2):
                comm.recv(source=ANY)
        else:
            comm.send(None, 0)

    def requests(comm: Any) -> None:
        if comm.rank == 0:
            one, other = comm.irecv(source=1), comm.irecv(source=2)
            while not one.Get_status():
                pass
            assert one.Get_status()
            assert MPI.Request.Testany([other, one])[1]
            for request in (one, other):
                request.wait()
        else:
            comm.send(None, 0)

    def partitions(comm: Any) -> None:
        request = comm.Psend_init(bytearray(2), 2, 1) if comm.rank == 0 else comm.Precv_init(bytearray(2), 2, 0, 0)
        request.Start()
        if comm.rank == 0:
            request.Pready_range(0, 1)
        elif request.Parrived(1):
            assert request.Parrived(1)
        request.Wait()
        request.Free()

    assert not fakempi.explore(probes, 2).failures
    assert not fakempi.explore(requests, 3, runs=50).failures
    assert not fakempi.explore(partitions, 2).failures
    (failure,) = fakempi.explore(one_of_two, 3, buffering="infinite", runs=200).failures
    assert "not certain" in str(failure)
