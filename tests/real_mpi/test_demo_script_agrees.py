"""The emulator and a real MPI: the demo that is an mpi4py script prints the same under both commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from fakempi.cli import main

SCRIPT = str(Path(__file__).parents[2] / "demos" / "pi_mpi4py.py")


def test_the_mpi4py_demo_prints_the_same_under_mpiexec(capsys: pytest.CaptureFixture[str]) -> None:
    """On four ranks, as the thirteenth demo says."""
    beside = Path(sys.executable).with_name("mpiexec")
    launcher = str(beside) if beside.exists() else shutil.which("mpiexec")
    if launcher is None or PathFinder.find_spec("mpi4py") is None:
        pytest.skip("there is no mpi4py, or no mpiexec")
    if subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True, check=False).returncode:
        pytest.skip("there is no MPI library")
    command = [launcher, "-n", "4", sys.executable, SCRIPT, "1000"]
    real = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert (real.returncode, main(["run", "-n", "4", SCRIPT, "1000"])) == (0, 0)
    assert capsys.readouterr().out == real.stdout
