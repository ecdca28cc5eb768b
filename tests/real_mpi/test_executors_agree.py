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
def results(kind: str, *command: str) -> Any:
    """The results of the script on an executor."""
    done = subprocess.run(
        [*command, str(HERE / "run_executors.py"), kind],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, capture_output=True, text=True, timeout=270, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_mpi4py_futures_give_the_results_of_one_process() -> None:
    """One process with the search, two with workers."""
    if not mpi_is_installed():
        pytest.skip("there is no mpi4py, or no MPI library")
    workers = results("mpi", mpiexec(), "-n", "3", sys.executable, "-m", "mpi4py.futures")
    assert workers == results("none", sys.executable)


@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
def test_dask_gives_the_results_of_one_process() -> None:
    """Two worker processes on this machine."""
    assert results("dask", sys.executable) == results("none", sys.executable)
