"""The catalogue on a real MPI: every algorithm against numpy and against mpi4py's own collective, on 1 to 8 processes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("run_catalogue.py")


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 5, 8])
def test_the_whole_catalogue_agrees_with_mpi4py(processes: int) -> None:
    """One start for all algorithms; the very files that run on the emulator."""
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None or PathFinder.find_spec("mpi4py") is None:
        pytest.skip("there is no mpi4py, or no mpiexec")
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    command = [mpiexec, "-n", str(processes), sys.executable, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=root, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^p = {processes}: [1-9]\d* passed, 0 failed$", done.stdout, re.MULTILINE), done.stdout
