"""`python -m fakempi calibrate` on a real MPI: a machine file that a run accepts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

import fakempi
from fakempi.core.network.models.machine_file import load_machine
from fakempi.machines.csv_files import read_samples


def test_a_real_mpi_is_calibrated(tmp_path: Path) -> None:
    """All kinds of samples are positive, the file is read, and its model runs a program."""
    sibling = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(sibling) if sibling.exists() else shutil.which("mpiexec")
    if mpiexec is None or PathFinder.find_spec("mpi4py") is None:
        pytest.skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    root = str(Path(__file__).parents[2])
    machine, samples = tmp_path / "m.toml", tmp_path / "samples.csv"
    command = [mpiexec, "-n", "2", sys.executable, "-m", "fakempi", "calibrate", "--seconds", "1", "--statistic", "minimum"]
    done = subprocess.run(
        [*command, "-o", str(machine), "--csv", str(samples)], capture_output=True, text=True, timeout=270, check=False,
        cwd=root, env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fakempi calibrate: level node: ranks 0 and 1\n" in done.stderr
    found = read_samples(str(samples))
    assert {sample.kind for sample in found} == {"time", "gap", "overhead", "reduction", "eager"}
    model = load_machine(str(machine))
    assert list(model.levels) == ["node"]
    assert model.compute_per_byte > 0
    assert dict(model.provenance)["processes"].startswith("2 processes on 1 node")
    assert fakempi.run(lambda comm: comm.allreduce(1), 4, cost=str(machine)).returns == [4] * 4
