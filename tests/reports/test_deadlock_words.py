"""The text of deadlock reports, word for word, on both backends."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney, ZeroCost, compute, phantom

HERE = "test_deadlock_words.py"


def report_lines(main: Callable[..., Any], nprocs: int, backend: Any, **options: Any) -> list[str]:
    """The lines of the report, with places in the program as `main+N`: N lines below its `def`."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, nprocs, backend=backend, **options)
    text, start = str(caught.value), main.__code__.co_firstlineno
    for line in range(40, 0, -1):
        text = text.replace(f"{HERE}:{start + line},", f"main+{line},")
    return text.splitlines()


def test_two_ranks_that_both_receive_first(backend: Any) -> None:
    """The report has a line for each."""

    def main(comm: Any) -> None:
        compute(1.5 * comm.rank)
        comm.recv(source=1 - comm.rank, tag=7)

    assert report_lines(main, 2, backend) == [
        "deadlock at t = 1.5 s: 2 of 2 ranks are blocked, and nothing can wake them.",
        "  rank 0: recv(source=1 - comm.rank (1), tag=7) at main+2, since t = 0",
        "  rank 1: recv(source=1 - comm.rank (0), tag=7) at main+2, since t = 1.5",
        "  cycle: 0 → 1 → 0",
    ]


def test_two_ranks_that_both_send_first(backend: Any) -> None:
    """The unsafe program of every textbook."""

    def main(comm: Any) -> None:
        comm.Send(phantom(800), 1 - comm.rank, tag=3)
        comm.Recv(phantom(800), 1 - comm.rank, tag=3)

    assert report_lines(main, 2, backend, cost=Hockney(eager_limit=0)) == [
        "deadlock at t = 0 s: 2 of 2 ranks are blocked, and nothing can wake them.",
        "  rank 0: Send(dest=1 - comm.rank (1), tag=3, 800 bytes) at main+1, since t = 0",
        "  rank 1: Send(dest=1 - comm.rank (0), tag=3, 800 bytes) at main+1, since t = 0",
        "  cycle: 0 → 1 → 0",
    ]


@pytest.mark.parametrize("nprocs", [7, pytest.param(1025, marks=pytest.mark.slow)])
def test_a_ring_that_sends_first_has_a_short_report_at_a_thousand_ranks(backend: Any, nprocs: int) -> None:
    """Neighbors are described by their distance."""

    def main(comm: Any) -> None:
        comm.Send(phantom(8), (comm.rank + 1) % comm.size)
        comm.Recv(phantom(8), (comm.rank - 1) % comm.size)

    names = "0 → 1 → 2 → 3 → … → 1023 → 1024 → 0 (1025 ranks)" if nprocs > 8 else "0 → 1 → 2 → 3 → 4 → 5 → 6 → 0"
    assert report_lines(main, nprocs, backend, cost=ZeroCost(eager_limit=0)) == [
        f"deadlock at t = 0 s: {nprocs} of {nprocs} ranks are blocked, and nothing can wake them.",
        f"  ranks 0-{nprocs - 1}: Send(dest=(comm.rank + 1) % comm.size (rank+1), tag=0, 8 bytes) at main+1, since t = 0",
        f"  cycle: {names}",
    ]


def test_a_thousand_ranks_that_wait_for_one_that_has_ended(backend: Any) -> None:
    """Folded, and the rank that has ended is named."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.Recv(phantom(8), 0, tag=7)

    assert report_lines(main, 1024, backend) == [
        "deadlock at t = 0 s: 1023 of 1024 ranks are blocked, and nothing can wake them.",
        "  ranks 1-1023: Recv(source=0, tag=7) at main+2, since t = 0; rank 0 has ended",
    ]


def test_a_deadlock_of_4096_ranks_has_a_short_report() -> None:
    """A gather whose root waits for one message too many."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.send(comm.rank, 0)
            comm.recv(source=0)
        else:
            for _ in range(comm.size):
                comm.recv()

    assert report_lines(main, 4096, "auto", cost=ZeroCost()) == [
        "deadlock at t = 0 s: 4096 of 4096 ranks are blocked, and nothing can wake them.",
        "  rank 0: recv(source=ANY, tag=ANY) at main+6, since t = 0",
        "  ranks 1-4095: recv(source=0, tag=ANY) at main+3, since t = 0",
    ]


def test_a_message_with_another_tag_is_a_near_miss(backend: Any) -> None:
    """Other unreceived messages are listed separately."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.send("x", 1, tag=8)
        else:
            comm.recv(source=0, tag=7)

    assert report_lines(main, 2, backend, cost=ZeroCost()) == [
        "deadlock at t = 0 s: 1 of 2 ranks is blocked, and nothing can wake it.",
        "  rank 1: recv(source=0, tag=7) at main+4, since t = 0; rank 0 has ended",
        "  near miss: rank 1 has a message from rank 0 with tag 8, but the receive expects tag 7",
        "  never received: a message from rank 0 to rank 1, tag 8, 16 bytes",
    ]


def test_a_message_from_another_source_is_a_near_miss(backend: Any) -> None:
    """The tag matches, the sender does not; here the sender is blocked as well."""

    def main(comm: Any) -> None:
        if comm.rank == 2:
            comm.Ssend(b"abc", 1, tag=7)
        elif comm.rank == 1:
            comm.Recv(bytearray(3), source=0, tag=7)

    assert report_lines(main, 3, backend) == [
        "deadlock at t = 0 s: 2 of 3 ranks are blocked, and nothing can wake them.",
        "  rank 1: Recv(source=0, tag=7) at main+4, since t = 0; rank 0 has ended",
        "  rank 2: Ssend(dest=1, tag=7, 3 bytes) at main+2, since t = 0",
        "  near miss: rank 1 has a message from rank 2 with tag 7, but the receive expects source 0",
    ]


def test_a_message_on_another_communicator_is_a_near_miss(backend: Any) -> None:
    """Both are named, by size and by number."""

    def main(comm: Any) -> None:
        duplicate = comm.Dup()
        if comm.rank == 0:
            comm.send(5, 1)
        else:
            duplicate.recv(source=0)

    assert report_lines(main, 2, backend, cost=ZeroCost()) == [
        "deadlock at t = 0 s: 1 of 2 ranks is blocked, and nothing can wake it.",
        "  rank 1: recv(source=0, tag=ANY on communicator 2 (2 ranks)) at main+5, since t = 0; rank 0 has ended",
        "  near miss: rank 1 has a message from rank 0 with tag 0, but on another communicator: COMM_WORLD, "
        "not communicator 2 (2 ranks)",
        "  never received: a message from rank 0 to rank 1, tag 0, 5 bytes",
    ]


def test_a_message_with_two_differences_is_no_near_miss(backend: Any) -> None:
    """It is only listed as unreceived."""

    def main(comm: Any) -> None:
        if comm.rank == 2:
            comm.send(5, 1, tag=8)
        elif comm.rank == 1:
            comm.recv(source=0, tag=7)

    lines = report_lines(main, 3, backend, cost=ZeroCost())
    assert [line for line in lines if "near miss" in line] == []
    assert lines[-1] == "  never received: a message from rank 2 to rank 1, tag 8, 5 bytes"


def test_a_message_from_another_source_on_another_communicator_is_no_near_miss(backend: Any) -> None:
    """Two differences, although both senders have the same rank where they sent."""

    def main(comm: Any) -> None:
        back = comm.Split(0, -comm.rank)
        if comm.rank == 2:
            back.send(5, 1)
        elif comm.rank == 1:
            comm.recv(source=0)

    lines = report_lines(main, 3, backend, cost=ZeroCost())
    assert [line.split(":")[0] for line in lines[2:]] == ["  never received"]


def test_ranks_on_a_smaller_communicator_are_named_by_their_world_rank(backend: Any) -> None:
    """The call as in the program, the ranks and the cycle by world ranks."""

    def main(comm: Any) -> None:
        half = comm.Split(comm.rank % 2)
        if comm.rank % 2:
            half.recv(source=1 - half.rank, tag=4)

    assert report_lines(main, 4, backend) == [
        "deadlock at t = 0 s: 2 of 4 ranks are blocked, and nothing can wake them.",
        "  rank 1: recv(source=1 - half.rank (1), tag=4 on communicator 3 (2 ranks)) at main+3, since t = 0",
        "  rank 3: recv(source=1 - half.rank (0), tag=4 on communicator 3 (2 ranks)) at main+3, since t = 0",
        "  cycle: 1 → 3 → 1",
    ]


def test_ranks_that_wait_for_others_in_a_collective_call(backend: Any) -> None:
    """The missing ranks are named."""

    def main(comm: Any) -> None:
        if comm.rank == 2:
            comm.recv(source=0)
        comm.Split(0)

    assert report_lines(main, 4, backend) == [
        "deadlock at t = 0 s: 4 of 4 ranks are blocked, and nothing can wake them.",
        "  ranks 0-1 and 3: Split(waits for rank 2) at main+3, since t = 0",
        "  rank 2: recv(source=0, tag=ANY) at main+2, since t = 0",
        "  cycle: 0 → 2 → 0",
    ]


def test_a_rank_that_has_ended_without_a_collective_call(backend: Any) -> None:
    """The report says so."""

    def main(comm: Any) -> None:
        if comm.rank != 1:
            comm.Dup()

    assert report_lines(main, 3, backend) == [
        "deadlock at t = 0 s: 2 of 3 ranks are blocked, and nothing can wake them.",
        "  ranks 0 and 2: Dup(waits for rank 1) at main+2, since t = 0; rank 1 has ended",
    ]


def test_both_halves_of_a_sendrecv_are_reported(backend: Any) -> None:
    """For several requests, the pending ones."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Sendrecv(b"ab", 1, 1, bytearray(2), 2, 2)
        elif comm.rank == 1:
            done, pending = comm.irecv(source=1, tag=5), comm.irecv(source=0, tag=6)
            comm.send(None, 1, tag=5)
            MPI.Request.Waitall([done, pending])
        else:
            MPI.Request.Waitany([comm.irecv(source=0, tag=3), comm.irecv(source=1, tag=4)])

    assert report_lines(main, 3, backend, cost=ZeroCost(eager_limit=0)) == [
        "deadlock at t = 0 s: 3 of 3 ranks are blocked, and nothing can wake them.",
        "  rank 0: Sendrecv(dest=1, tag=1, 2 bytes; source=2, tag=2) at main+2, since t = 0",
        "  rank 1: Waitall(source=0, tag=6) at main+6, since t = 0",
        "  rank 2: Waitany(source=0, tag=3 or source=1, tag=4) at main+8, since t = 0",
        "  cycle: 0 → 1 → 0",
        "  near miss: rank 1 has a message from rank 0 with tag 1, but the receive expects tag 6",
    ]


def test_the_start_of_a_wait_is_the_time_of_the_call(backend: Any) -> None:
    """Not the end of another operation, and not an earlier wait."""

    def main(comm: Any) -> None:
        compute(2)
        if comm.rank == 0:
            MPI.Request.Waitall([comm.irecv(source=1, tag=1), comm.irecv(source=1, tag=2)])
        elif comm.rank == 1:
            compute(5)
            comm.send(None, 0, tag=1)
            MPI.Request.Waitany([comm.irecv(source=0)])
        else:
            comm.Probe(source=0)

    lines = report_lines(main, 3, backend, cost=ZeroCost())
    assert [line.rpartition(", ")[2] for line in lines[1:4]] == ["since t = 2", "since t = 7", "since t = 2"]


def test_a_cycle_is_found_through_any_of_several_waits(backend: Any) -> None:
    """Rank 0 also waits for rank 1, which is not part of the cycle."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            MPI.Request.Waitall([comm.irecv(source=1), comm.irecv(source=2)])
        elif comm.rank == 1:
            comm.recv()
        else:
            comm.recv(source=0)

    assert "  cycle: 0 → 2 → 0" in report_lines(main, 3, backend)


def test_a_rank_that_waits_for_itself(backend: Any) -> None:
    """The shortest cycle."""

    def main(comm: Any) -> None:
        comm.Ssend(b"", comm.rank)

    assert report_lines(main, 1, backend) == [
        "deadlock at t = 0 s: the only rank is blocked, and nothing can wake it.",
        "  rank 0: Ssend(dest=comm.rank (0), tag=0, 0 bytes) at main+1, since t = 0",
        "  cycle: 0 → 0",
    ]


def test_ranks_of_an_intercommunicator(backend: Any) -> None:
    """Peers by their rank in the other group, as in the program; ranks by their world rank."""

    def main(comm: Any) -> None:
        half = comm.Split(comm.rank // 2)
        inter = half.Create_intercomm(0, comm, 2 - comm.rank // 2 * 2)
        if half.rank == 1:
            inter.recv(source=1, tag=9)

    assert report_lines(main, 4, backend) == [
        "deadlock at t = 0 s: 2 of 4 ranks are blocked, and nothing can wake them.",
        "  ranks 1 and 3: recv(source=1, tag=9 on intercommunicator 4 (2 + 2 ranks)) at main+4, since t = 0",
        "  cycle: 1 → 3 → 1",
    ]


def test_the_call_is_the_one_in_the_program_also_through_helpers(backend: Any) -> None:
    """The line is the innermost one of the user's code."""

    def helper(comm: Any) -> None:
        comm.recv(source=0)

    def main(comm: Any) -> None:
        helper(comm)

    line = f"{HERE}:{helper.__code__.co_firstlineno + 1}"
    assert report_lines(main, 1, backend)[1] == f"  rank 0: recv(source=0, tag=ANY) at {line}, since t = 0"


def test_exact_times_are_reported_in_digits(backend: Any) -> None:
    """For any number type of the clock."""

    third: Any = Fraction(1, 3)

    def main(comm: Any) -> None:
        compute(third)
        comm.recv(source=0)

    assert report_lines(main, 1, backend)[:2] == [
        "deadlock at t = 0.333333 s: the only rank is blocked, and nothing can wake it.",
        "  rank 0: recv(source=0, tag=ANY) at main+2, since t = 0.333333",
    ]


def test_a_report_does_not_depend_on_memory_addresses(backend: Any) -> None:
    """Messages on many communicators are listed in the order of their creation."""

    def main(comm: Any) -> None:
        duplicates = [comm.Dup() for _ in range(8)]
        if comm.rank == 0:
            for duplicate in reversed(duplicates):
                duplicate.send(None, 1)
        comm.recv(source=comm.rank, tag=1)

    lines = [line for line in report_lines(main, 2, backend, cost=ZeroCost()) if "never received" in line]
    assert lines == [
        f"  never received: a message from rank 0 to rank 1, tag 0, 4 bytes on communicator {number} (2 ranks)"
        for number in range(2, 10)
    ]
