"""Searches, verifications and sweeps on the executors of mpi4py and Dask have the results of one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from tests.real_mpi.processes import HERE, ROOT, mpi_is_installed, mpiexec


@cache
def results_and_log(kind: str, *command: str) -> tuple[Any, str]:
    """The results of the script on an executor, and what it logged."""
    done = subprocess.run(
        [*command, str(HERE / "run_executors.py"), kind],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, capture_output=True, text=True, timeout=270, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def results(kind: str, *command: str) -> Any:
    """The results alone."""
    return results_and_log(kind, *command)[0]


def test_mpi4py_futures_give_the_results_of_one_process() -> None:
    """One process with the search, two with workers."""
    if not mpi_is_installed():
        pytest.skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    workers = results("mpi", mpiexec(), "-n", "3", sys.executable, "-m", "mpi4py.futures")
    assert workers == results("none", sys.executable)


needs_dask = pytest.mark.skipif(not find_spec("distributed"), reason="there is no Dask: python -m pip install distributed")


@needs_dask
def test_dask_gives_the_results_of_one_process() -> None:
    """Two worker processes on this machine."""
    assert results("dask", sys.executable) == results("none", sys.executable)


@needs_dask
def test_a_killed_worker_of_dask_changes_no_result() -> None:
    """Its jobs run again, and the log says that a worker was started in its place."""
    found, log = results_and_log("dask, one killed", sys.executable)
    assert found == results("none", sys.executable)
    assert "Restarting worker" in log
