"""The catalogue on a real MPI: every algorithm compared with numpy and with mpi4py's collective, on 1 to 8 processes."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.breadth import THOROUGH
from tests.real_mpi.processes import script_output

pytestmark = pytest.mark.timeout(900)
PROCESSES = [1, 2, 3, 4, 5, 8]


@cache
def output() -> str:
    """The output for all numbers of processes, of one start of mpiexec; `all` cases are about six times as many."""
    return script_output("run_catalogue.py", *["all"] * THOROUGH, *PROCESSES, ranks=max(PROCESSES), timeout=840)


@pytest.mark.parametrize("processes", PROCESSES)
def test_the_whole_catalogue_agrees_with_mpi4py(processes: int) -> None:
    """The same files that run on the emulator."""
    found = re.search(rf"^p = {processes}: (\d+) passed, 0 failed$", output(), re.MULTILINE)
    assert found, output()
    assert int(found[1]) >= (4000 if THOROUGH else 900)
