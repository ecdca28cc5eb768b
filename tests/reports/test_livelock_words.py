"""The text of livelock reports, word for success, on both backends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import fakempi
from fakempi import MPI, ZeroCost, compute

HERE = "test_livelock_words.py"
Poll = Callable[[Any, Any, Any], Any]


def report_lines(main: Callable[..., Any], nprocs: int, backend: Any, **options: Any) -> list[str]:
    """The lines of the report, with places in the program as `main+N`: N lines below its `def`."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, nprocs, backend=backend, **options)
    text, start = str(caught.value), main.__code__.co_firstlineno
    for line in range(10, 0, -1):
        text = text.replace(f"{HERE}:{start + line},", f"main+{line},")
    return text.splitlines()


def test_ranks_that_poll_endlessly(backend: Any) -> None:
    """A livelock, with blocked ranks next to polling ones."""

    def main(comm: Any) -> None:
        compute(3)
        if comm.rank == 0:
            comm.recv(source=1)
        while not comm.Iprobe(source=0, tag=5):
            pass

    assert report_lines(main, 3, backend) == [
        "livelock at t = 3 s: 3 of 3 ranks poll without success or are blocked, and nothing can change that.",
        "  rank 0: recv(source=1, tag=ANY) at main+3, since t = 3",
        "  ranks 1-2: Iprobe(source=0, tag=5) at main+4, since t = 3",
    ]


@pytest.mark.parametrize(
    ("poll", "words"),
    [
        (lambda comm, one, two: comm.Iprobe(), "Iprobe(source=ANY, tag=ANY)"),
        (lambda comm, one, two: comm.improbe(1, 8), "improbe(source=1, tag=8)"),
        (lambda comm, one, two: one.Test(), "Test(source=1, tag=6)"),
        (lambda comm, one, two: one.get_status(), "get_status(source=1, tag=6)"),
        (lambda comm, one, two: MPI.Request.Testall([one, two]), "Testall(source=1, tag=6; dest=1, tag=7, 4 bytes)"),
        (lambda comm, one, two: MPI.Request.testany([one, two])[1], "testany(source=1, tag=6 or dest=1, tag=7, 4 bytes)"),
        (lambda comm, one, two: MPI.Request.Testsome([one, two]), "Testsome(source=1, tag=6 or dest=1, tag=7, 4 bytes)"),
    ],
)
def test_a_report_has_what_was_polled_for(backend: Any, poll: Poll, words: str) -> None:
    """As for a call that waits; for requests, the pending ones."""

    def main(comm: Any) -> None:
        if comm.rank:
            return
        one, two = comm.irecv(source=1, tag=6), comm.Issend(b"four", 1, 7)
        while not poll(comm, one, two):
            pass

    assert report_lines(main, 2, backend)[1].split(" at ")[0] == f"  rank 0: {words}"


def test_a_polling_rank_has_near_misses_and_is_in_no_cycle(backend: Any) -> None:
    """It may poll for something else next time."""

    def main(comm: Any) -> None:
        comm.send("x", 1 - comm.rank, tag=4)
        while not comm.Iprobe(source=1 - comm.rank, tag=5):
            pass

    assert report_lines(main, 2, backend, cost=ZeroCost())[1:4] == [
        "  rank 0: Iprobe(source=1 - comm.rank (1), tag=5) at main+2, since t = 0",
        "  rank 1: Iprobe(source=1 - comm.rank (0), tag=5) at main+2, since t = 0",
        "  near miss: ranks 0-1 have messages from ranks 0-1 with tag 4, but the receive expects tag 5",
    ]


def test_earlier_polls_are_not_part_of_the_wait(backend: Any) -> None:
    """The report has the call in which a rank is blocked."""

    def main(comm: Any) -> None:
        comm.Iprobe(source=0, tag=5)
        comm.recv(source=0, tag=6)

    assert report_lines(main, 1, backend)[1] == "  rank 0: recv(source=0, tag=6) at main+2, since t = 0"
