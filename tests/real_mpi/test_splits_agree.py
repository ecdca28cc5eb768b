"""The splits on a real MPI: compared with sorting and with mpi4py's. Levels and redundancy sets, too."""

from __future__ import annotations

import re

import pytest

from tests.real_mpi.processes import script_output


@pytest.mark.parametrize("sizes", [(1, 2, 3, 4), pytest.param((5, 8), marks=pytest.mark.slow)], ids=str)
def test_splits_and_creation_of_communicators_agree_with_mpi4py(sizes: tuple[int, ...]) -> None:
    """The same files that run on the emulator; one start of mpiexec, since two cores take long for more than 4 processes.

    Communicators are created along a chain of some ranks, and between two groups with different leaders.
    """
    output = script_output("run_split.py", *sizes, ranks=max(sizes))
    for p in sizes:
        assert re.search(rf"^p = {p}: [1-9]\d* passed$", output, re.MULTILINE), output
        assert f"p = {p}: creation of communicators passed" in output
