"""The algorithms between groups on a real MPI: against numpy and against mpi4py's own collective."""

from __future__ import annotations

import re

import pytest

from collectives import CATALOGUE
from tests.real_mpi.asking import said


@pytest.mark.parametrize(("p", "q"), [(2, 3), (1, 4), (5, 3), (2, 2), (1, 1)])
def test_every_algorithm_between_groups_agrees_with_mpi4py(p: int, q: int) -> None:
    """The very files that run on the emulator."""
    output = said("run_inter.py", p, ranks=p + q)
    count = sum(algorithm.kind == "inter" for algorithm in CATALOGUE)
    assert re.search(rf"^{p} \+ {q}: {count} algorithms, [1-9]\d* cases passed$", output, re.MULTILINE), output
