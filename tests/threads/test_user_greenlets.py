"""Greenlets of the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI

greenlet = pytest.importorskip("greenlet", reason="there is no greenlet: python -m pip install greenlet").greenlet


def test_greenlets_without_mpi_calls_switch_as_usual(backend: Any) -> None:
    """Their rank calls MPI meanwhile."""

    def main(comm: Any) -> Any:
        def count() -> None:
            for number in range(3):
                outer.switch(number)

        outer, inner = greenlet.getcurrent(), greenlet(count)
        return [comm.allreduce(inner.switch()) for _ in range(3)]

    assert fakempi.run(main, 2, backend=backend).returns == [[0, 2, 4]] * 2


def test_a_greenlet_that_calls_mpi_works_or_is_rejected() -> None:
    """On threads it belongs to its rank; where ranks are greenlets, it is rejected."""

    def main(comm: Any) -> Any:
        def call() -> Any:
            try:
                return comm.sendrecv(comm.rank, 1 - comm.rank)
            except MPI.Exception as error:
                return str(error)

        return greenlet(call).switch(), comm.allreduce(1)

    assert fakempi.run(main, 2, backend="threads").returns == [(1, 2), (0, 2)]
    message = (
        "sendrecv on rank {}: this is a greenlet that rank {} has started. Ranks are greenlets themselves here, and only "
        "the rank's own may call MPI: run(..., backend='threads'), or let the rank start threads."
    )
    assert fakempi.run(main, 2, backend="greenlets").returns == [(message.format(0, 0), 2), (message.format(1, 1), 2)]


def test_greenlets_imported_in_the_run_are_rejected_too(tmp_path: Path) -> None:
    """By a script, in a process in which the class was not imported before."""
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
    done = subprocess.run(command, capture_output=True, text=True, timeout=270, check=False)
    message = "sendrecv on rank {0}: this is a greenlet that rank {0} has started"
    assert sorted(done.stdout.splitlines()) == [message.format(0), message.format(1)]
