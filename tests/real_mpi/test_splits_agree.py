"""The splits on a real MPI: compared with sorting and with mpi4py's. Levels and redundancy sets, too."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.real_mpi.processes import script_output

SIZES = [1, 2, 5, 8]


@cache
def all_output() -> str:
    """The output for all numbers of processes, of one start of mpiexec."""
    return script_output("run_split.py", *SIZES, ranks=max(SIZES))


@pytest.mark.parametrize("p", SIZES)
def test_splits_agree_with_mpi4py(p: int) -> None:
    """The same files that run on the emulator."""
    output = all_output()
    assert re.search(rf"^p = {p}: [1-9]\d* passed$", output, re.MULTILINE), output


@pytest.mark.parametrize("p", SIZES)
def test_creation_of_communicators_agrees(p: int) -> None:
    """Along a chain of some ranks, and between two groups with different leaders."""
    assert f"p = {p}: creation of communicators passed" in all_output()
