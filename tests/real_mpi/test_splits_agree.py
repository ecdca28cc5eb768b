"""The splits on a real MPI: against sorting in one place and against mpi4py's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("run_split.py")


@pytest.mark.parametrize("p", [1, 2, 5, 8])
def test_splits_agree_with_mpi4py(p: int) -> None:
    """The very files that run on the emulator."""
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None or PathFinder.find_spec("mpi4py") is None:
        pytest.skip("there is no mpi4py, or no mpiexec")
    root = str(Path(__file__).parents[2])
    command = [mpiexec, "-n", str(p), sys.executable, str(PROGRAM)]
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=root, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^p = {p}: [1-9]\d* passed$", done.stdout, re.MULTILINE), done.stdout
