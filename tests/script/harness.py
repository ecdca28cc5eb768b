"""Writes small scripts to a folder and runs them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

import fakempi
from fakempi.script import program

COMM = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"


Capture = pytest.CaptureFixture[str]


def play(
    folder: Path,
    script: str,
    nprocs: int,
    carrier: str = "auto",
    *args: str,
    beside: Mapping[str, str] | None = None,
    label: str = "",
    computing: float = 0.0,
) -> fakempi.Run:
    """Run a script, with modules beside it; in all of them `MPI` and `comm` are there."""
    for name, text in {"work.py": script, **(beside or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(COMM + dedent(text), encoding="utf-8")
    return fakempi.run(program([str(folder / "work.py"), *args], label=label), nprocs, carrier=carrier, computing=computing)
