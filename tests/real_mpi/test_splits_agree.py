"""The splits on a real MPI: compared with sorting and with mpi4py's. Levels and redundancy sets, too."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.real_mpi.processes import script_output

FEW, MORE = (1, 2, 3, 4), (5, 8)
SIZES = [*FEW, *(pytest.param(p, marks=pytest.mark.slow) for p in MORE)]  # two cores take long for more than 4


@cache
def output_for(sizes: tuple[int, ...]) -> str:
    """The output for these numbers of processes, of one start of mpiexec."""
    return script_output("run_split.py", *sizes, ranks=max(sizes))


@pytest.mark.parametrize("p", SIZES)
def test_splits_agree_with_mpi4py(p: int) -> None:
    """The same files that run on the emulator."""
    output = output_for(FEW if p in FEW else MORE)
    assert re.search(rf"^p = {p}: [1-9]\d* passed$", output, re.MULTILINE), output


@pytest.mark.parametrize("p", SIZES)
def test_creation_of_communicators_agrees(p: int) -> None:
    """Along a chain of some ranks, and between two groups with different leaders."""
    assert f"p = {p}: creation of communicators passed" in output_for(FEW if p in FEW else MORE)
