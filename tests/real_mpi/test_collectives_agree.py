"""Our collectives and a real MPI's: small programs return the same on both, rank by rank."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.real_mpi.collective_programs import ABSENT, PROGRAMS, facts

SIZES = [1, 2, 3, 5]


@cache
def real(size: int) -> Any:
    """What a real MPI says on so many ranks: one start of mpiexec each."""
    starter = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if starter is None:
        pytest.skip("mpiexec is not installed")
    asked = subprocess.run(
        [starter, "-n", str(size), sys.executable, str(Path(__file__).with_name("collective_programs.py"))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=50,
    )
    if asked.returncode == ABSENT:
        pytest.skip("mpi4py, or an MPI for it, is not installed")
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)


@cache
def emulated(size: int, carrier: str = "auto") -> Any:
    """What we say, as it comes out of JSON: tuples are lists."""
    returns = fakempi.run(lambda comm: facts(MPI, comm), size, carrier=carrier).returns
    return json.loads(json.dumps(returns))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", SIZES)
def test_collectives_agree(size: int, name: str) -> None:
    """On every rank."""
    for rank, (theirs, mine) in enumerate(zip(real(size), emulated(size), strict=True)):
        assert (rank, mine[name]) == (rank, theirs[name])


@pytest.mark.parametrize("size", SIZES)
def test_no_program_fails_on_any_carrier(carrier: str, size: int) -> None:
    """And all return the same on each."""
    found = emulated(size, carrier)
    assert found == emulated(size)
    assert [name for each in found for name, value in each.items() if isinstance(value, str)] == []
