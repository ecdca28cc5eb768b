"""The splits on a real MPI: against sorting in one place and against mpi4py's own."""

from __future__ import annotations

import re

import pytest

from tests.real_mpi.asking import said


@pytest.mark.parametrize("p", [1, 2, 5, 8])
def test_splits_agree_with_mpi4py(p: int) -> None:
    """The very files that run on the emulator."""
    output = said("run_split.py", ranks=p)
    assert re.search(rf"^p = {p}: [1-9]\d* passed$", output, re.MULTILINE), output
