"""The splits on a real MPI: against sorting in one place and against mpi4py's own. Levels and redundancy sets, too."""

from __future__ import annotations

import re

import pytest

from tests.real_mpi.asking import said


@pytest.mark.parametrize("p", [1, 2, 5, 8])
def test_splits_agree_with_mpi4py(p: int) -> None:
    """The very files that run on the emulator."""
    output = said("run_split.py", ranks=p)
    assert re.search(rf"^p = {p}: [1-9]\d* passed$", output, re.MULTILINE), output


@pytest.mark.parametrize("p", [1, 2, 5, 8])
def test_makers_of_communicators_tell_each_other_the_same(p: int) -> None:
    """Along a chain of some ranks, and between two groups with leaders here and there."""
    assert f"p = {p}: passed" in said("run_making.py", ranks=p)
