"""A real MPI runs in separate processes, since importing mpi4py starts it: input of a script, and its answer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ABSENT = 77
LIMIT = 270  # seconds; a little less than pytest's limit for a test, whose report says less
HUNG: set[str] = set()  # what was started and did not end: many tests start the same
WAITING = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
"""A rank of MPICH that waits sleeps instead of polling, since there are more ranks than cores: with `on_one_core`, 5 ranks
that run the algorithms between groups need 13 CPU seconds instead of 42 on a machine with 2 busy cores."""
IMPORT = f"""
import sys
try:
    from mpi4py import MPI
except (ImportError, RuntimeError):  # not installed, or no MPI library for it
    sys.exit({ABSENT})
"""


@cache
def mpi_is_installed() -> bool:
    """Whether a process can import mpi4py's MPI."""
    status = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, timeout=LIMIT, check=False).returncode
    assert status in (0, ABSENT)
    return status == 0


def skip(reason: str) -> NoReturn:
    """Skip the test. The scripts import this module, too, and no rank needs pytest, whose import takes 0.3 s."""
    import pytest

    pytest.skip(reason)


def mpiexec() -> str:
    """The mpiexec next to this Python, or on the path."""
    sibling = Path(sys.executable).with_name("mpiexec")
    found = str(sibling) if sibling.exists() else shutil.which("mpiexec")
    return found or skip('there is no MPI: python -m pip install "fakempi[mpi]"')


def on_one_core() -> None:
    """Put this process and its children on one core, so that ranks that wait do not keep the others busy."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        os.sched_setaffinity(0, {cores[int(worker) % len(cores)]})


def run_script(
    script: str, *arguments: object, ranks: int | None = None, question: Any = None, timeout: float = LIMIT
) -> subprocess.CompletedProcess[str]:
    """Run a script, under mpiexec if `ranks` is given; the input is JSON on its standard input."""
    if not mpi_is_installed():
        skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    command = [] if ranks is None else [mpiexec(), "-n", str(ranks)]
    command += [sys.executable, str(HERE / script), *map(str, arguments)]
    key = json.dumps([command, question])
    if key in HUNG:
        raise AssertionError(f"{script} did not end within {timeout} s when another test started it")
    try:
        return subprocess.run(
            command,
            input=json.dumps(question),
            env={**os.environ, **WAITING, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            preexec_fn=on_one_core if os.name == "posix" else None,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        HUNG.add(key)
        raise


def script_output(script: str, *arguments: object, ranks: int, timeout: float = LIMIT) -> str:
    """The output of a script."""
    done = run_script(script, *arguments, ranks=ranks, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def script_answer(script: str, *arguments: object, ranks: int | None = None, question: Any = None) -> Any:
    """The answer of a script, from JSON."""
    done = run_script(script, *arguments, ranks=ranks, question=question)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def through_json(value: Any) -> Any:
    """The value after a conversion to JSON and back: tuples are lists."""
    return json.loads(json.dumps(value))


# Used by the scripts ---------------------------------------------------------------------------------------------------


def on_parts(sizes: Iterable[int], main: Callable[[Any], int]) -> int:
    """Call `main` with a communicator of the first p ranks for each p, and return the largest result.

    One start of mpiexec for all sizes: a process that imports mpi4py, numpy and collectives takes half a second.
    """
    from mpi4py import MPI

    statuses = [0]
    for p in sizes:
        part = MPI.COMM_WORLD.Split(0 if MPI.COMM_WORLD.Get_rank() < p else MPI.UNDEFINED)
        if part != MPI.COMM_NULL:
            statuses.append(main(part))
            part.Free()
        MPI.COMM_WORLD.Barrier()
    return max(statuses)


def answer(facts: Callable[[Any, Any], Any]) -> None:
    """Rank 0 prints the results of `facts` of every rank, called with MPI and the world."""
    from mpi4py import MPI

    gathered = MPI.COMM_WORLD.gather(facts(MPI, MPI.COMM_WORLD))
    if gathered is not None:
        json.dump(gathered, sys.stdout)


def finish(main: Callable[[], int]) -> NoReturn:
    """Exit with the result of `main`; if it raises, end the other ranks, too, which may wait for this one."""
    from mpi4py import MPI

    try:
        status = main()
    except BaseException:
        traceback.print_exc()
        MPI.COMM_WORLD.Abort(1)
    sys.exit(status)
