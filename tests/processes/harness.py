"""Runs a script on ranks of one process and on ranks that are processes, and returns what can be observed of both."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import fakempi
from fakempi.errors import RunError
from fakempi.isolation import Program
from fakempi.processes.program import ProcessProgram

HEAD = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nrank, size = comm.rank, comm.size\n"


class Observed(NamedTuple):
    """Output of a run, its exit codes, clocks, findings, number of messages and bytes, and its error."""

    out: str
    err: str
    codes: dict[int, int]
    clocks: list[float]
    findings: list[str]
    traffic: tuple[int, int]
    error: str


def observe(command: Sequence[str], nprocs: int, processes: bool, **options: Any) -> Observed:
    """Run a command and return what can be observed."""
    before, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), io.StringIO(), io.StringIO()
    made = (ProcessProgram if processes else Program)(command)
    clocks, traffic, found, error = [], (0, 0), [], ""
    try:
        result = fakempi.run(made, nprocs, **options)
        clocks, traffic = list(result.clocks), (result.messages, result.bytes)
        found = [str(one) for one in result.findings]
    except RunError as failure:
        error = f"{type(failure).__name__}: {failure}"
        found = [str(one) for one in failure.findings]
    finally:
        texts = sys.stdout.getvalue(), sys.stderr.getvalue()
        sys.stdout, sys.stderr = before
    return Observed(*texts, dict(sorted(made.codes.items())), clocks, found, traffic, error)


def both(
    directory: Path, script: str, nprocs: int, *args: str, head: str = HEAD, **options: Any
) -> tuple[Observed, Observed]:
    """Run a script, on one process and on several."""
    path = directory / "work.py"
    path.write_text(head + dedent(script), encoding="utf-8")
    command = [str(path), *args]
    return observe(command, nprocs, False, **options), observe(command, nprocs, True, **options)
