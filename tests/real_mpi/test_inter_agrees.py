"""The algorithms between groups on a real MPI: against numpy and against mpi4py's own collective."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from collectives import CATALOGUE

PROGRAM = Path(__file__).with_name("run_inter.py")


@pytest.mark.parametrize(("p", "q"), [(2, 3), (1, 4), (5, 3), (2, 2), (1, 1)])
def test_every_algorithm_between_groups_agrees_with_mpi4py(p: int, q: int) -> None:
    """The very files that run on the emulator."""
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None or PathFinder.find_spec("mpi4py") is None:
        pytest.skip("there is no mpi4py, or no mpiexec")
    root = str(Path(__file__).parents[2])
    command = [mpiexec, "-n", str(p + q), sys.executable, str(PROGRAM), str(p)]
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=root, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    count = sum(algorithm.kind == "inter" for algorithm in CATALOGUE)
    assert re.search(rf"^{p} \+ {q}: {count} algorithms, [1-9]\d* cases passed$", done.stdout, re.MULTILINE), done.stdout
