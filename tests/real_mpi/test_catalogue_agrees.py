"""The catalogue on a real MPI: every algorithm compared with numpy and with mpi4py's collective, on 1 to 8 processes."""

from __future__ import annotations

import re

import pytest

from tests.helpers.breadth import THOROUGH
from tests.real_mpi.processes import script_output

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize("sizes", [(3,), pytest.param((1, 2, 4, 5, 8), marks=pytest.mark.slow)], ids=str)
def test_the_whole_catalogue_agrees_with_mpi4py(sizes: tuple[int, ...]) -> None:
    """The same files that run on the emulator; one start of mpiexec, since two cores take long for more than 4 processes."""
    every = ["all"] * THOROUGH  # about six times as many cases
    text = script_output("run_catalogue.py", *every, *sizes, ranks=max(sizes), timeout=840)
    for p in sizes:
        found = re.search(rf"^p = {p}: (\d+) passed, 0 failed$", text, re.MULTILINE)
        assert found, text
        assert int(found[1]) >= (4000 if THOROUGH else 900)
