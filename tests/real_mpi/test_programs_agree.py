"""The emulator and a real MPI: the same programs return the same, rank by rank, on 1 to 4 ranks."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI

RUNNER = Path(__file__).with_name("runner.py")
RANKS = [1, 2, 3, 4]


def module(path: Path) -> Any:
    """The module in a file, which is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


runner = module(RUNNER)
PROGRAMS = sorted(runner.load("programs").PROGRAMS)


@cache
def mpiexec() -> str | None:
    """The one beside this Python, or on the path."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


@cache
def real(ranks: int) -> Any:
    """What the programs return on a real MPI: one start for all of them."""
    launcher = mpiexec()
    if launcher is None or PathFinder.find_spec("mpi4py") is None:
        pytest.skip("there is no mpi4py, or no mpiexec")
    command = [launcher, "-n", str(ranks), sys.executable, str(RUNNER)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == runner.ABSENT:
        pytest.skip("there is no MPI library")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def emulated(ranks: int, carrier: str) -> Any:
    """What they return on the emulator."""
    return fakempi.run(lambda comm: runner.results(comm, MPI), ranks, carrier=carrier).returns


def of(results: Any, name: str) -> list[Any]:
    """A program's results by rank."""
    return [each[name] for each in results]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_returns_what_it_returns_on_a_real_mpi(name: str, ranks: int) -> None:
    """On every rank."""
    assert of(emulated(ranks, "auto"), name) == of(real(ranks), name)


@pytest.mark.parametrize("ranks", RANKS)
def test_a_program_returns_the_same_on_every_carrier(carrier: str, ranks: int) -> None:
    """And none fails."""
    results = emulated(ranks, carrier)
    assert results == emulated(ranks, "auto")
    failed = [name for name in PROGRAMS for each in of(results, name) if isinstance(each, str)]
    assert failed == []


def test_there_are_enough_programs() -> None:
    """Lest the table was not filled."""
    assert len(PROGRAMS) >= 20
