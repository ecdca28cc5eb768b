"""Algorithms between groups on a real MPI: compared with numpy and with mpi4py's collective."""

from __future__ import annotations

import re
from functools import cache

import pytest

from collectives import CATALOGUE
from tests.real_mpi.processes import script_output

GROUPS = [(2, 3), (1, 4), (5, 3), (2, 2), (1, 1)]


@cache
def all_output() -> str:
    """The output for all sizes of groups, of one start of mpiexec."""
    return script_output("run_inter.py", *(f"{p}+{q}" for p, q in GROUPS), ranks=8)


@pytest.mark.parametrize(("p", "q"), GROUPS)
def test_every_algorithm_between_groups_agrees_with_mpi4py(p: int, q: int) -> None:
    """The same files that run on the emulator."""
    output = all_output()
    count = sum(algorithm.kind == "inter" for algorithm in CATALOGUE)
    assert re.search(rf"^{p} \+ {q}: {count} algorithms, [1-9]\d* cases passed$", output, re.MULTILINE), output
