"""Without the modules and names that Windows lacks, everything works except ranks as processes, which say what they need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_running import BEGINNING, ENVIRONMENT

SCRIPT = Path(__file__).with_name("without_posix.py")
USE = """
import locale, os, signal, tempfile, threading, time
signal.signal(signal.SIGTERM, lambda *args: None)
thread = threading.Thread(target=comm.barrier)
thread.start()
thread.join()
time.sleep(0.01)
window = MPI.Win.Allocate_shared(8, comm=comm)
window.Free()
file = MPI.File.Open(comm, "data", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(4 * comm.rank, b"abcd")
file.Close()
print(comm.allreduce(1), os.path.getsize("data"))
"""
pytestmark = pytest.mark.skipif(os.name == "nt", reason="this is Windows: other tests show what works")


def without_posix(*words: str, directory: Path, **variables: str) -> tuple[int, str, str]:
    """The exit code and the output of a command."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words], env=ENVIRONMENT | variables, cwd=directory, text=True, capture_output=True,
        timeout=200, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_every_module_can_be_imported_without_posix(tmp_path: Path) -> None:
    """Except modules that only processes of ranks import."""
    assert without_posix("--import", directory=tmp_path) == (0, "", "")


@pytest.mark.parametrize("backend", ["auto", "threads"])
def test_scripts_run_without_posix(backend: str, tmp_path: Path) -> None:
    """With threads, signals, sleep, files and shared memory, and in many schedules."""
    words = ("run", "-n", "2", "--backend", backend, "--timeout", "100", "-c", BEGINNING + USE)
    assert without_posix(*words, directory=tmp_path) == (0, "2 8\n2 8\n", "")


@pytest.mark.slow
def test_other_commands_run_without_posix(tmp_path: Path) -> None:
    """They need no modules of POSIX."""
    code, out, _ = without_posix("check", "-n", "2", "--quiet", "-c", BEGINNING + "comm.barrier()", directory=tmp_path)
    assert (code, out) == (0, "clean: all 2 schedules\n")
    assert without_posix("learn", "course", "--list", directory=tmp_path)[0] == 0


@pytest.mark.quick(1)
@pytest.mark.parametrize("option", ["--processes", "--debug=0", "FAKEMPI_PROCESSES"])
def test_ranks_as_processes_say_that_they_need_posix(option: str, tmp_path: Path) -> None:
    """One sentence and exit code 2, however processes are requested."""
    options, variables = ([option], {}) if option.startswith("-") else ([], {option: "1"})
    code, out, err = without_posix("run", "-n", "2", *options, "-c", "pass", directory=tmp_path, **variables)
    assert (code, out) == (2, "")
    assert err.startswith("fakempi run: ranks as processes (--processes,")
    assert "need POSIX: Linux, macOS, or WSL on Windows." in err
    assert err.count("\n") == 1
