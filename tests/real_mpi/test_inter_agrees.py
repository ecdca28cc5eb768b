"""Algorithms between groups on a real MPI: compared with numpy and with mpi4py's collective."""

from __future__ import annotations

import re
from functools import cache

import pytest

from collectives import CATALOGUE
from tests.real_mpi.processes import script_output

FEW, MORE = ((1, 3), (2, 2), (1, 1)), ((2, 3), (1, 4), (5, 3))
"""Sizes of two groups; two cores take long for more than 4 processes."""


@cache
def output_for(groups: tuple[tuple[int, int], ...]) -> str:
    """The output for these sizes of groups, of one start of mpiexec."""
    return script_output("run_inter.py", *(f"{p}+{q}" for p, q in groups), ranks=max(map(sum, groups)))


@pytest.mark.parametrize(("p", "q"), [*FEW, *(pytest.param(*sizes, marks=pytest.mark.slow) for sizes in MORE)])
def test_every_algorithm_between_groups_agrees_with_mpi4py(p: int, q: int) -> None:
    """The same files that run on the emulator."""
    output = output_for(FEW if (p, q) in FEW else MORE)
    count = sum(algorithm.kind == "inter" for algorithm in CATALOGUE)
    assert re.search(rf"^{p} \+ {q}: {count} algorithms, [1-9]\d* cases passed$", output, re.MULTILINE), output
