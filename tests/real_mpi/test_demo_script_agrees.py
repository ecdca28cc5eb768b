"""The emulator and a real MPI: the demo that is an mpi4py script prints the same output under both commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.apps.cli import main
from tests.real_mpi.processes import script_output

SCRIPT = str(Path(__file__).parents[2] / "demos" / "pi_mpi4py.py")


def test_the_mpi4py_demo_prints_the_same_under_mpiexec(capsys: pytest.CaptureFixture[str]) -> None:
    """On four ranks, as in the thirteenth demo."""
    real = script_output(SCRIPT, 1000, ranks=4)
    assert main(["run", "-n", "4", SCRIPT, "1000"]) == 0
    assert capsys.readouterr().out == real
