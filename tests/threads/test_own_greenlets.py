"""Greenlets of the program's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI

greenlet = pytest.importorskip("greenlet").greenlet


def test_they_switch_as_ever(carrier: str) -> None:
    """As long as they do not call MPI; their rank does so meanwhile."""

    def main(comm: Any) -> Any:
        def count() -> None:
            for number in range(3):
                outer.switch(number)

        outer, inner = greenlet.getcurrent(), greenlet(count)
        return [comm.allreduce(inner.switch()) for _ in range(3)]

    assert fakempi.run(main, 2, carrier=carrier).returns == [[0, 2, 4]] * 2


def test_one_that_calls_mpi_is_served_or_told() -> None:
    """On threads it is its rank; where ranks are greenlets, it cannot be."""

    def main(comm: Any) -> Any:
        def call() -> Any:
            try:
                return comm.sendrecv(comm.rank, 1 - comm.rank)
            except MPI.Exception as error:
                return str(error)

        return greenlet(call).switch(), comm.allreduce(1)

    assert fakempi.run(main, 2, carrier="threads").returns == [(1, 2), (0, 2)]
    told = (
        "sendrecv on rank {}: this is a greenlet that rank {} has started. Ranks are greenlets themselves here, and only "
        "the rank's own may call MPI: run(..., carrier='threads'), or let the rank start threads."
    )
    assert fakempi.run(main, 2, carrier="greenlets").returns == [(told.format(0, 0), 2), (told.format(1, 1), 2)]


def test_one_that_is_imported_in_the_run_is_told_too(tmp_path: Path) -> None:
    """By a script, in a process where no module had the class before."""
    script = tmp_path / "work.py"
    script.write_text("""
from greenlet import greenlet
from mpi4py import MPI
comm = MPI.COMM_WORLD
try:
    print(greenlet(comm.sendrecv).switch(1, 1 - comm.rank))
except MPI.Exception as error:
    print(str(error).partition(".")[0])
""")
    command = [sys.executable, "-m", "fakempi", "run", "-q", "-n", "2", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    told = "sendrecv on rank {0}: this is a greenlet that rank {0} has started"
    assert sorted(done.stdout.splitlines()) == [told.format(0), told.format(1)]
