"""Ranks that die, and what the others do about it: ULFM's calls."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


def told(call: Any) -> tuple[str, int, float]:
    """What a call raises, its class, and when."""
    with pytest.raises(MPI.Exception) as caught:
        call()
    return str(caught.value), caught.value.Get_error_class(), MPI.Wtime()


def test_a_receive_from_a_rank_that_dies_ends_when_that_is_known(carrier: str) -> None:
    """So does one that is posted later, and a large send."""

    def main(comm: Any) -> Any:
        if comm.rank == 1:
            fakempi.compute(100)
            raise AssertionError
        seen = [told(lambda: comm.Recv(np.zeros(1), 1)), told(lambda: comm.Send(np.zeros(1), 1))]
        return [*seen, told(lambda: comm.recv(source=1)), told(lambda: comm.Isend(np.zeros(1), 1))]

    done = fakempi.run(main, 2, carrier=carrier, kill={1: 3}, detection=2)
    calls = ["Recv", "Send", "recv", "Isend"]
    assert done.returns == [[(f"{call} on rank 0: rank 1 has died.", MPI.ERR_PROC_FAILED, 5.0) for call in calls], None]
    assert done.clocks == [5, 3]


def test_a_rank_may_die_at_the_moment_at_which_it_would_go_on(carrier: str) -> None:
    """It does not go on."""

    def main(comm: Any) -> int:
        fakempi.compute(3.0 if comm.rank == 0 else 1.0)
        return int(comm.Get_failed().size)

    assert fakempi.run(main, 2, kill={1: 1.0}, carrier=carrier).returns == [1, None]


def test_a_large_send_ends_too() -> None:
    """It waited for a receive; of arrays and of objects."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            fakempi.compute(1)
            fakempi.die()
        if comm.rank == 1:
            return told(lambda: comm.Send(np.zeros(100_000), 0))[1]
        return told(lambda: comm.ssend("x", 0))[1]

    assert fakempi.run(main, 3).returns == [None, MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED]


def test_what_was_sent_before_can_be_received() -> None:
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
def test_collective_calls_fail_for_all_who_are_in_them(carrier: str, call: str) -> None:
    """Whomever they wait for, and also those who come later."""

    def main(comm: Any) -> Any:
        if comm.rank == 2:
            fakempi.compute(1)
        if comm.rank == 3:
            fakempi.compute(20)
        if call == "allreduce":
            return told(lambda: comm.allreduce(1))[1:]
        if call == "Iallreduce":
            return told(lambda: comm.Iallreduce(np.zeros(1), np.zeros(1)).Wait())[1:]
        return told(getattr(comm, call))[1:]

    done = fakempi.run(main, 5, carrier=carrier, kill={2: 0.5}, detection=10)
    early, late = (MPI.ERR_PROC_FAILED, 10.5), (MPI.ERR_PROC_FAILED, 20.0)
    assert done.returns == [early, early, None, late, early]


def test_any_source_goes_on_once_the_rank_has_taken_note() -> None:
    """Before, it might wait for the dead."""

    def main(comm: Any) -> Any:
        if comm.rank == 2:
            fakempi.die()
        if comm.rank == 1:
            fakempi.compute(1)
            comm.send("alive", 0)
            return None
        first = told(lambda: comm.recv())[:2]
        assert comm.Ack_failed(0) == 0
        assert comm.Ack_failed() == 1
        return first, comm.recv()

    words = "recv on rank 0: rank 2 has died."
    assert fakempi.run(main, 3).returns[0] == ((words, MPI.ERR_PROC_FAILED_PENDING), "alive")


def test_revoke_ends_everything_everywhere() -> None:
    """At once here, elsewhere when an empty message could be there; a copy of the communicator is not concerned."""

    def main(comm: Any) -> Any:
        other = comm.Dup()
        if comm.rank == 0:
            fakempi.compute(5)
            assert not other.Is_revoked()
            other.Revoke()
            assert other.Is_revoked()
            seen = told(lambda: other.Send(np.zeros(1), 1))
        elif comm.rank == 1:
            seen = told(lambda: other.Recv(np.zeros(1), 2))
        else:
            seen = told(other.Barrier)
        assert told(lambda: other.Send(np.zeros(0), MPI.PROC_NULL))[1] == MPI.ERR_REVOKED
        assert other.Get_size() == 3
        comm.Barrier()
        return seen[1:]

    revoked = MPI.ERR_REVOKED
    assert fakempi.run(main, 3, cost=fakempi.Hockney(2, 0)).returns == [(revoked, 5.0), (revoked, 7.0), (revoked, 7.0)]


def test_the_living_agree_and_shrink(carrier: str) -> None:
    """Ranks keep their order; the new communicator works as any."""

    def main(comm: Any) -> Any:
        if comm.rank in (1, 4):
            fakempi.die()
        with pytest.raises(MPI.Exception, match="ranks 1 and 4 have died, and this rank has not taken note"):
            comm.Agree(1)
        failed = comm.Get_failed().Translate_ranks(None, comm.Get_group())
        comm.Ack_failed()
        agreed = comm.Agree(0b1110 if comm.rank else 0b0111)
        smaller = comm.Shrink()
        return sorted(failed), agreed, smaller.rank, smaller.allgather(comm.rank)

    done = fakempi.run(main, 6, carrier=carrier)
    alive = [0, 2, 3, 5]
    assert [done.returns[rank] for rank in alive] == [([1, 4], 0b0110, at, alive) for at in range(4)]


def test_who_dies_meanwhile_is_not_waited_for() -> None:
    """Neither in an agreement nor while the others shrink; in the background, too."""

    def main(comm: Any) -> Any:
        if comm.rank == 1:
            fakempi.compute(1)
            fakempi.die()
        flag = np.array([comm.rank + 8], "i")
        comm.Iagree(flag).Wait()
        smaller, request = comm.Ishrink()
        request.Wait()
        return int(flag[0]), smaller.size

    assert fakempi.run(main, 4, cost=fakempi.Free()).returns == [(8, 3), None, (8, 3), (8, 3)]


def test_an_agreement_takes_two_rounds_of_a_tree() -> None:
    """Of empty messages, after the last one has come."""

    def main(comm: Any) -> None:
        fakempi.compute(comm.rank)
        comm.Agree(1)

    assert fakempi.run(main, 5, cost=fakempi.Hockney(10, 1)).clocks == [4 + 2 * 3 * 10] * 5


def test_an_iteration_that_survives() -> None:
    """Revoke, shrink, and go on from the last state that all have."""

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


def test_a_death_that_nobody_notices_ends_the_run() -> None:
    """As under mpiexec; and an error that nobody catches does, too."""

    def unnoticed(comm: Any) -> None:
        fakempi.compute(1)

    def uncaught(comm: Any) -> None:
        fakempi.compute(1)
        comm.Barrier()

    with pytest.raises(fakempi.RankError, match=r"it died at t = 0\.5 s, and no other rank took notice"):
        fakempi.run(unnoticed, 2, kill={1: 0.5})
    with pytest.raises(fakempi.RankError, match=r"Barrier on rank 0: rank 1 has died\."):
        fakempi.run(uncaught, 2, kill={1: 0.5})


@pytest.mark.parametrize(
    ("kill", "words"),
    [
        ([3], r"run: kill must be a mapping from ranks to times, not \[3\]\."),
        ({5: 1}, r"run: rank 5 is to be killed, but ranks are 0 to 1\."),
        ({0: -1}, r"run: rank 0 is to be killed at -1, before the run begins\."),
        ({0: "x"}, r"run: rank 0 is to be killed at 'x', which is no time\."),
    ],
)
def test_whom_one_cannot_kill(kill: Any, words: str) -> None:
    """With the numbers."""
    with pytest.raises(MPI.Exception, match=f"^{words}$"):
        fakempi.run(lambda comm: None, 2, kill=kill)


def test_a_rank_that_has_ended_cannot_die() -> None:
    """Nothing happens."""
    assert fakempi.run(lambda comm: comm.rank, 2, kill={1: 5}).returns == [0, 1]


def test_the_finally_of_the_dead_runs_when_all_is_over(carrier: str) -> None:
    """Nothing is left behind; before, nothing of it happens."""
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

    fakempi.run(main, 2, kill={0: 0.5}, carrier=carrier)
    assert order == ["alive", "dead"]


def test_what_the_dead_have_left_is_nobodys_mistake(carrier: str) -> None:
    """Nor is what others began with them; what else is wrong still is."""

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

    done = fakempi.run(main, 3, False, carrier=carrier, strict=True)
    assert (done.returns, done.findings) == ([2, 2, None], [])
    (one,) = fakempi.run(main, 3, True, carrier=carrier).findings
    assert (one.kind, one.ranks) == ("message-lost", (1,))


def test_when_a_death_is_learned_of_is_not_explored() -> None:
    """So no search with one is exhausted; it was said of Cancel, which nobody had called, or of nothing."""

    def main(comm: Any) -> Any:
        if comm.rank == 1:
            fakempi.die()
        with contextlib.suppress(MPI.Exception):
            comm.recv(source=1)

    found = fakempi.explore(main, 2)
    assert found.verdict == "clean so far: 2 schedules, but when others learn of a death is not explored"
