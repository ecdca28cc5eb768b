"""A program observes more than data: the sender in the text of an exception, and warnings. `explore` compares them, too."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.point.request import Request

Receive = Callable[[Any], object]


def caught(receive: Receive, data: Callable[[], Any] = lambda: np.zeros(2)) -> Callable[[Any], Any]:
    """A program in which two ranks send equal data, and rank 0 returns the text of the first error of `receive`."""

    def main(comm: Any) -> Any:
        if comm.rank:
            return comm.Isend(data(), 0).Wait()
        texts = []
        for _ in range(2):
            try:
                receive(comm)
            except MPI.Exception as error:
                texts.append(str(error))
        return texts

    return main


def wait_for_all(comm: Any) -> None:
    """Receive by a list of requests, without statuses."""
    Request.Waitall([comm.Irecv(np.zeros(1))])


def test_the_sender_in_the_text_of_an_exception_distinguishes_equal_messages() -> None:
    """The program prints which rank it received from, although it asks for no status."""
    receives: dict[str, Receive] = {
        "Recv": lambda comm: comm.Recv(np.zeros(1)),
        "Irecv": lambda comm: comm.Irecv(np.zeros(1)).Wait(),
        "Waitall": wait_for_all,
        "Waitany": lambda comm: Request.Waitany([comm.Irecv(np.zeros(1))]),
        "Sendrecv": lambda comm: comm.Sendrecv(np.zeros(1), MPI.PROC_NULL, recvbuf=np.zeros(1)),
    }
    for name, receive in receives.items():
        main = caught(receive)
        orders = {tuple(fakempi.run(main, 3, schedule=f"i:{first}").returns[0]) for first in (0, 1)}
        assert len(orders) == 2, name
        assert all("from rank" in text for order in orders for text in order), name
        for kind in ("returns", "output"):
            printed = main if kind == "returns" else lambda comm, main=main: sys.stdout.write(str(main(comm)))
            found = fakempi.explore(printed, 3, compare=kind, strict=False)
            assert any(isinstance(failure.error, fakempi.OutcomesDifferError) for failure in found.failures), (name, kind)


def test_findings_that_name_a_sender_distinguish_equal_messages() -> None:
    """Each sender of data that do not fit the receive is reported in some schedule."""
    def main(comm: Any) -> None:
        if comm.rank:
            comm.Send(np.zeros(1), 0)
        else:
            comm.Recv(np.zeros(1, np.int64))
            comm.Recv(np.zeros(1))

    assert fakempi.explore(main, 3, buffering="zero", strict=False).runs == 2


def test_each_run_shows_its_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    """Python shows a warning of one line once per process, but runs with other schedules are other processes."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.send(comm.rank, 0)
            return
        got = [comm.recv(), comm.recv()]
        warnings.warn("received", stacklevel=1)
        if got[0] == 2:
            warnings.warn("rank 2 was first", stacklevel=1)

    def show(message: Any, *_: Any, **__: Any) -> None:
        sys.stderr.write(f"{message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show  # pytest collects warnings instead
        (failure,) = fakempi.explore(main, 3, compare="output").failures
    assert "rank 2 was first" in str(failure.error)
    assert "(nothing)" in str(failure.error)
    assert capsys.readouterr().err.count("received\n") >= 4
