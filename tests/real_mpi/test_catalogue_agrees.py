"""The catalogue on a real MPI: every algorithm against numpy and against mpi4py's own collective, on 1 to 8 processes."""

from __future__ import annotations

import re

import pytest

from tests.real_mpi.asking import said


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 5, 8])
def test_the_whole_catalogue_agrees_with_mpi4py(processes: int) -> None:
    """One start for all algorithms; the very files that run on the emulator."""
    output = said("run_catalogue.py", ranks=processes)
    assert re.search(rf"^p = {processes}: [1-9]\d* passed, 0 failed$", output, re.MULTILINE), output
