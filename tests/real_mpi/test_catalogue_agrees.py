"""The catalogue on a real MPI: every algorithm compared with numpy and with mpi4py's collective, on 1 to 8 processes."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.breadth import THOROUGH
from tests.real_mpi.processes import script_output

pytestmark = pytest.mark.timeout(900)
FEW, MORE = (1, 2, 3, 4), (5, 8)
"""Numbers of processes; two cores take long for more than 4."""


@cache
def output(processes: tuple[int, ...]) -> str:
    """The output for these numbers of processes, of one start of mpiexec; `all` cases are about six times as many."""
    return script_output("run_catalogue.py", *["all"] * THOROUGH, *processes, ranks=max(processes), timeout=840)


@pytest.mark.parametrize("processes", [*FEW, *(pytest.param(processes, marks=pytest.mark.slow) for processes in MORE)])
def test_the_whole_catalogue_agrees_with_mpi4py(processes: int) -> None:
    """The same files that run on the emulator."""
    text = output(FEW if processes in FEW else MORE)
    found = re.search(rf"^p = {processes}: (\d+) passed, 0 failed$", text, re.MULTILINE)
    assert found, text
    assert int(found[1]) >= (4000 if THOROUGH else 900)
