"""Writes small scripts to a directory and runs them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program
from fakempi.processes.program import ProcessProgram

COMM = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"


IN_PROCESSES = bool(os.environ.get("FAKEMPI_SCRIPT_TESTS_IN_PROCESSES"))
"""Whether these tests run scripts on ranks that are processes: tests/processes/test_existing_scripts.py does that."""

Capture = pytest.CaptureFixture[str]


def play(
    directory: Path,
    script: str,
    nprocs: int,
    backend: Any = "auto",
    *args: str,
    siblings: Mapping[str, str] | None = None,
    label: str = "",
    cpu_scale: float = 0.0,
) -> fakempi.Run[int]:
    """Run a script, with modules next to it; all of them have `MPI` and `comm`."""
    for name, text in {"work.py": script, **(siblings or {})}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(COMM + dedent(text), encoding="utf-8")
    command = [str(directory / "work.py"), *args]
    made = ProcessProgram(command, label=label) if IN_PROCESSES else Program(command, label=label)
    return fakempi.run(made, nprocs, backend=backend, cpu_scale=cpu_scale)
