"""Schedules of algorithms on a real MPI: compared with numpy."""

from __future__ import annotations

import re

import pytest

from collectives import CATALOGUE
from tests.real_mpi.processes import script_output


@pytest.mark.parametrize("ranks", [2, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (4, 5))])
def test_recorded_schedules_have_the_results_of_numpy(ranks: int) -> None:
    """The same algorithms and files that run on the emulator; two and four ranks also fit those that need a power of two."""
    output = script_output("run_schedules.py", ranks=ranks)
    found = re.search(r"^(\d+) algorithms within a group, (\d+) between two groups$", output, re.MULTILINE)
    assert found, output
    kinds = [algorithm.kind for algorithm in CATALOGUE]
    if ranks in (2, 4):
        assert int(found[1]) == kinds.count("intra")
    assert 36 <= int(found[2]) <= kinds.count("inter")
