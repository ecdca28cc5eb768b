"""Idioms of scripts behave as under mpiexec: see `running`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.idioms.running import LIMIT, WAYS, idioms, recorded, run
from tests.real_mpi.processes import ROOT, mpi_is_installed

SAMPLE = {
    "one process": {"as_zip_file", "finalizers", "fork_and_exit", "stdin_select"},
    "processes": {"bytes_to_stdout", "print_replaced", "thread_daemon_at_end"},
}
"""Idioms that the sample runs by the command line."""


@pytest.mark.parametrize("options", [[], pytest.param(["--all"], marks=pytest.mark.slow)])
def test_idioms_in_one_process_print_what_was_recorded_on_mpich(options: list[str]) -> None:
    """In a new process, because signal handlers and other settings of the process are among the idioms."""
    command = [sys.executable, "-m", "tests.idioms", "--here", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=LIMIT, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_sample_of_idioms_prints_what_was_recorded_on_mpich(way: str, tmp_path: Path) -> None:
    """By the command line."""
    known = recorded()
    for idiom in idioms(tmp_path):
        if idiom.name in SAMPLE[way]:
            found, errors = run(idiom, way)
            assert found == known[idiom.name], f"{idiom.name}: {errors}"


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("way", WAYS)
def test_all_idioms_print_the_same_on_mpich_and_here(way: str, tmp_path: Path) -> None:
    """Starts mpiexec for each of them."""
    if not mpi_is_installed():
        pytest.skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    differ = {}
    for idiom in idioms(tmp_path):
        expected, _ = run(idiom, "mpich")
        found, errors = run(idiom, way)
        if found != expected:
            differ[idiom.name] = expected, found, errors
    assert differ == {}


def test_every_idiom_is_recorded(tmp_path: Path) -> None:
    """There are at least sixty, and nothing else is recorded."""
    names = [idiom.name for idiom in idioms(tmp_path)]
    assert len(names) >= 60
    assert sorted(names) == sorted(recorded())
