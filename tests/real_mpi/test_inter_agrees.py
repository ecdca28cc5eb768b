"""Algorithms between groups on a real MPI: compared with numpy and with mpi4py's collective."""

from __future__ import annotations

import re

import pytest

from collectives import CATALOGUE
from tests.real_mpi.processes import script_output

FEW, MORE = ((1, 2), (2, 1), (1, 1)), ((1, 3), (2, 2), (2, 3), (1, 4), (5, 3))
"""Sizes of two groups; two cores take long for more than 4 processes."""


@pytest.mark.parametrize("groups", [FEW, pytest.param(MORE, marks=pytest.mark.slow)], ids=str)
def test_every_algorithm_between_groups_agrees_with_mpi4py(groups: tuple[tuple[int, int], ...]) -> None:
    """The same files that run on the emulator; one start of mpiexec."""
    output = script_output("run_inter.py", *(f"{p}+{q}" for p, q in groups), ranks=max(map(sum, groups)))
    count = sum(algorithm.kind == "inter" for algorithm in CATALOGUE)
    for p, q in groups:
        assert re.search(rf"^{p} \+ {q}: {count} algorithms, [1-9]\d* cases passed$", output, re.MULTILINE), output
