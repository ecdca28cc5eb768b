"""Failed ranks, and the calls of other ranks: ULFM."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


def error_of(call: Any) -> tuple[str, int, float]:
    """Return the message, class and time of a call's error."""
    with pytest.raises(MPI.Exception) as caught:
        call()
    return str(caught.value), caught.value.Get_error_class(), MPI.Wtime()


def test_a_receive_from_a_rank_that_dies_ends_when_the_failure_is_detected(backend: Any) -> None:
    """So do later receives, and a large send."""

    def main(comm: Any) -> Any:
        if comm.rank == 1:
            fakempi.compute(100)
            raise AssertionError
        seen = [error_of(lambda: comm.Recv(np.zeros(1), 1)), error_of(lambda: comm.Send(np.zeros(1), 1))]
        return [*seen, error_of(lambda: comm.recv(source=1)), error_of(lambda: comm.Isend(np.zeros(1), 1))]

    done = fakempi.run(main, 2, backend=backend, kill={1: 3}, detection_delay=2)
    calls = ["Recv", "Send", "recv", "Isend"]
    assert done.returns == [[(f"{call} on rank 0: rank 1 has died.", MPI.ERR_PROC_FAILED, 5.0) for call in calls], None]
    assert done.clocks == [5, 3]


def test_a_rank_may_die_at_the_time_at_which_it_would_continue(backend: Any) -> None:
    """It does not continue."""

    def main(comm: Any) -> int:
        fakempi.compute(3.0 if comm.rank == 0 else 1.0)
        return int(comm.Get_failed().size)

    assert fakempi.run(main, 2, kill={1: 1.0}, backend=backend).returns == [1, None]


def test_a_large_send_ends_too() -> None:
    """It waits for a receive; for arrays and for objects."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            fakempi.compute(1)
            fakempi.die()
        if comm.rank == 1:
            return error_of(lambda: comm.Send(np.zeros(100_000), 0))[1]
        return error_of(lambda: comm.ssend("x", 0))[1]

    assert fakempi.run(main, 3).returns == [None, MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED]


def test_messages_sent_before_the_failure_can_be_received() -> None:
    """A message outlives its sender."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            comm.send("last words", 1)
            fakempi.die()
        fakempi.compute(1)
        assert comm.Get_failed().Get_size() == 1
        return comm.recv(source=0)

    assert fakempi.run(main, 2).returns == [None, "last words"]


@pytest.mark.parametrize("call", ["Barrier", "allreduce", "Iallreduce", "Dup", "Split"])
def test_collective_calls_fail_on_all_ranks(backend: Any, call: str) -> None:
    """For any missing rank, and also for ranks that call later."""

    def main(comm: Any) -> Any:
        if comm.rank == 2:
            fakempi.compute(1)
        if comm.rank == 3:
            fakempi.compute(20)
        if call == "allreduce":
            return error_of(lambda: comm.allreduce(1))[1:]
        if call == "Iallreduce":
            return error_of(lambda: comm.Iallreduce(np.zeros(1), np.zeros(1)).Wait())[1:]
        return error_of(getattr(comm, call))[1:]

    done = fakempi.run(main, 5, backend=backend, kill={2: 0.5}, detection_delay=10)
    early, late = (MPI.ERR_PROC_FAILED, 10.5), (MPI.ERR_PROC_FAILED, 20.0)
    assert done.returns == [early, early, None, late, early]


def test_any_source_continues_after_the_failure_is_acknowledged() -> None:
    """Before that, it might wait for the failed rank."""

    def main(comm: Any) -> Any:
        if comm.rank == 2:
            fakempi.die()
        if comm.rank == 1:
            fakempi.compute(1)
            comm.send("alive", 0)
            return None
        first = error_of(lambda: comm.recv())[:2]
        assert comm.Ack_failed(0) == 0
        assert comm.Ack_failed() == 1
        return first, comm.recv()

    words = "recv on rank 0: rank 2 has died."
    assert fakempi.run(main, 3).returns[0] == ((words, MPI.ERR_PROC_FAILED_PENDING), "alive")


def test_revoke_ends_all_operations_on_all_ranks() -> None:
    """At once on this rank, on others when an empty message could arrive; a duplicate of the communicator is unaffected."""

    def main(comm: Any) -> Any:
        other = comm.Dup()
        if comm.rank == 0:
            fakempi.compute(5)
            assert not other.Is_revoked()
            other.Revoke()
            assert other.Is_revoked()
            seen = error_of(lambda: other.Send(np.zeros(1), 1))
        elif comm.rank == 1:
            seen = error_of(lambda: other.Recv(np.zeros(1), 2))
        else:
            seen = error_of(other.Barrier)
        assert error_of(lambda: other.Send(np.zeros(0), MPI.PROC_NULL))[1] == MPI.ERR_REVOKED
        assert other.Get_size() == 3
        comm.Barrier()
        return seen[1:]

    revoked = MPI.ERR_REVOKED
    assert fakempi.run(main, 3, cost=fakempi.Hockney(2, 0)).returns == [(revoked, 5.0), (revoked, 7.0), (revoked, 7.0)]


def test_survivors_agree_and_shrink(backend: Any) -> None:
    """Ranks keep their order; the new communicator is an ordinary one."""

    def main(comm: Any) -> Any:
        if comm.rank in (1, 4):
            fakempi.die()
        with pytest.raises(MPI.Exception, match="ranks 1 and 4 have died, and this rank has not acknowledged it"):
            comm.Agree(1)
        failed = comm.Get_failed().Translate_ranks(None, comm.Get_group())
        comm.Ack_failed()
        agreed = comm.Agree(0b1110 if comm.rank else 0b0111)
        smaller = comm.Shrink()
        return sorted(failed), agreed, smaller.rank, smaller.allgather(comm.rank)

    done = fakempi.run(main, 6, backend=backend)
    alive = [0, 2, 3, 5]
    assert [done.returns[rank] for rank in alive] == [([1, 4], 0b0110, at, alive) for at in range(4)]


def test_operations_do_not_wait_for_a_process_that_dies_meanwhile() -> None:
    """In an agreement and in a shrink, also nonblocking."""

    def main(comm: Any) -> Any:
        if comm.rank == 1:
            fakempi.compute(1)
            fakempi.die()
        flag = np.array([comm.rank + 8], "i")
        comm.Iagree(flag).Wait()
        smaller, request = comm.Ishrink()
        request.Wait()
        return int(flag[0]), smaller.size

    assert fakempi.run(main, 4, cost=fakempi.ZeroCost()).returns == [(8, 3), None, (8, 3), (8, 3)]


def test_an_agreement_takes_two_rounds_of_a_tree() -> None:
    """Two rounds of empty messages after the last rank has called."""

    def main(comm: Any) -> None:
        fakempi.compute(comm.rank)
        comm.Agree(1)

    assert fakempi.run(main, 5, cost=fakempi.Hockney(10, 1)).clocks == [4 + 2 * 3 * 10] * 5


def test_an_iteration_can_recover() -> None:
    """Revoke, shrink, and continue from the last state that all ranks have."""

    def main(comm: Any) -> Any:
        done, steps = 0, []
        while done < 6:
            try:
                fakempi.compute(1)
                steps.append(comm.allreduce(1))
                done += 1
            except MPI.Exception as error:
                if error.Get_error_class() not in (MPI.ERR_PROC_FAILED, MPI.ERR_REVOKED):
                    raise
                comm.Revoke()
                comm = comm.Shrink()
                done = comm.allreduce(done, MPI.MIN)
                del steps[done:]
        return steps

    done = fakempi.run(main, 5, kill={3: 2.5, 0: 4.2})
    assert done.returns[1] == done.returns[2] == done.returns[4]
    assert (done.returns[1][0], done.returns[1][-1], len(done.returns[1])) == (5, 3, 6)


def test_an_unhandled_failure_ends_the_run() -> None:
    """As under mpiexec; an uncaught error does the same."""

    def unnoticed(comm: Any) -> None:
        fakempi.compute(1)

    def uncaught(comm: Any) -> None:
        fakempi.compute(1)
        comm.Barrier()

    with pytest.raises(fakempi.RankError, match=r"it died at t = 0\.5 s, and no other rank noticed"):
        fakempi.run(unnoticed, 2, kill={1: 0.5})
    with pytest.raises(fakempi.RankError, match=r"Barrier on rank 0: rank 1 has died\."):
        fakempi.run(uncaught, 2, kill={1: 0.5})


@pytest.mark.parametrize(
    ("kill", "words"),
    [
        ([3], r"run: kill must be a mapping from ranks to times, not \[3\]\."),
        ({5: 1}, r"run: kill names rank 5, but ranks are 0 to 1\."),
        ({0: -1}, r"run: kill\[0\] is -1, before the run begins\."),
        ({0: "x"}, r"run: kill\[0\] is 'x', not a time in seconds\."),
    ],
)
def test_invalid_ranks_to_kill_are_rejected(kill: Any, words: str) -> None:
    """With the numbers."""
    with pytest.raises(MPI.Exception, match=f"^{words}$"):
        fakempi.run(lambda comm: None, 2, kill=kill)


def test_a_rank_that_has_ended_cannot_die() -> None:
    """It has no effect."""
    assert fakempi.run(lambda comm: comm.rank, 2, kill={1: 5}).returns == [0, 1]


def test_finally_blocks_of_a_dead_rank_run_at_the_end_of_the_run(backend: Any) -> None:
    """Nothing is left behind; before that they have no effect."""
    order: list[str] = []

    def main(comm: Any) -> None:
        if comm.rank == 0:
            try:
                comm.recv(source=1, tag=9)
            finally:
                order.append("dead")
        else:
            fakempi.compute(1)
            comm.Get_failed()
            order.append("alive")

    fakempi.run(main, 2, kill={0: 0.5}, backend=backend)
    assert order == ["alive", "dead"]


def test_leaks_of_dead_processes_are_not_reported(backend: Any) -> None:
    """Operations of others with them are not reported; other findings are."""

    def main(comm: Any, wrong: bool) -> Any:
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        if comm.rank == 2:
            comm.Isend(bytearray(8), 1)
            comm.irecv(source=0, tag=9)
            fakempi.die()
        if comm.rank == 1:
            comm.send("for the dead", 2)
        with contextlib.suppress(MPI.Exception):
            comm.Barrier()
        if wrong and comm.rank == 1:
            comm.send("for the living", 0)
        survivors = comm.Shrink()
        try:
            return survivors.allreduce(1)
        finally:
            survivors.Free()

    done = fakempi.run(main, 3, False, backend=backend, strict=True)
    assert (done.returns, done.findings) == ([2, 2, None], [])
    (one,) = fakempi.run(main, 3, True, backend=backend).findings
    assert (one.kind, one.ranks) == ("message-lost", (1,))


def test_the_time_at_which_a_failure_is_detected_is_not_explored() -> None:
    """So no search with a failure is exhaustive; the report once blamed Cancel, which was not called, or nothing."""

    def main(comm: Any) -> Any:
        if comm.rank == 1:
            fakempi.die()
        with contextlib.suppress(MPI.Exception):
            comm.recv(source=1)

    found = fakempi.explore(main, 2)
    assert found.verdict == "clean so far: 2 schedules, but when other ranks learn of a failure is not explored"


def test_the_time_at_which_a_revocation_is_detected_is_not_explored() -> None:
    """The report says so."""
    found = fakempi.explore(lambda comm: comm.Revoke() if comm.rank else comm.Is_revoked(), 2)
    assert found.limits == ["when other ranks learn that a communicator is revoked is not explored"]
