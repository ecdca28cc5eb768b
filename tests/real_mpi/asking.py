"""A real MPI runs in processes of its own, since importing mpi4py starts it: how a test asks, and how a script answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ABSENT = 77
LIMIT = 270  # seconds; a little less than pytest's limit for a test, whose report says less
HUNG: set[str] = set()  # what was started and did not end: many tests ask the same
IMPORT = f"""
import sys
try:
    from mpi4py import MPI
except (ImportError, RuntimeError):  # not installed, or no MPI library for it
    sys.exit({ABSENT})
"""


@cache
def is_there() -> bool:
    """Whether a process can import mpi4py's MPI."""
    status = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, timeout=LIMIT, check=False).returncode
    assert status in (0, ABSENT)
    return status == 0


def mpiexec() -> str:
    """The one beside this Python, or on the path."""
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    return found or pytest.skip("there is no mpiexec")


def started(
    script: str, *arguments: object, ranks: int | None = None, question: Any = None
) -> subprocess.CompletedProcess[str]:
    """A script that has run, under mpiexec if it has `ranks`; the question is JSON on its standard input."""
    if not is_there():
        pytest.skip("there is no mpi4py, or no MPI library")
    command = [] if ranks is None else [mpiexec(), "-n", str(ranks)]
    command += [sys.executable, str(HERE / script), *map(str, arguments)]
    asked = json.dumps([command, question])
    if asked in HUNG:
        pytest.fail(f"{script} did not end within {LIMIT} s when another test started it")
    try:
        return subprocess.run(
            command,
            input=json.dumps(question),
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        HUNG.add(asked)
        raise


def said(script: str, *arguments: object, ranks: int) -> str:
    """What a script prints."""
    done = started(script, *arguments, ranks=ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def answered(script: str, *arguments: object, ranks: int | None = None, question: Any = None) -> Any:
    """What a script answers, as JSON."""
    done = started(script, *arguments, ranks=ranks, question=question)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def plain(value: Any) -> Any:
    """As it comes out of JSON: tuples are lists."""
    return json.loads(json.dumps(value))


# The script's half ---------------------------------------------------------------------------------------------------


def answer(facts: Callable[[Any, Any], Any]) -> None:
    """Rank 0 writes what `facts` finds on every rank, given MPI and the world."""
    from mpi4py import MPI

    everybody = MPI.COMM_WORLD.gather(facts(MPI, MPI.COMM_WORLD))
    if everybody is not None:
        json.dump(everybody, sys.stdout)


def finish(main: Callable[[], int]) -> NoReturn:
    """Exit with what `main` returns; if it raises, end the other ranks too, which may be waiting for this one."""
    from mpi4py import MPI

    try:
        status = main()
    except BaseException:
        traceback.print_exc()
        MPI.COMM_WORLD.Abort(1)
    sys.exit(status)
