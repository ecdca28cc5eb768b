"""Programs for students use `MPI.Wtime()` only in differences, so that they are right under mpiexec, too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "docs" / "tutorial.md",
    *(ROOT / "fakempi" / "apps" / "tour" / "pages").glob("*.md"),
    *(ROOT / "fakempi" / "apps" / "course" / "exercises").glob("*/s*.py"),
    ROOT / "demos" / "01_hello.py",
    ROOT / "demos" / "08_blocked_ring.py",
    ROOT / "demos" / "18_step_by_step.py",
    ROOT / "demos" / "06_mpi4py_script.py",
    ROOT / "demos" / "15_survivors.py",
    ROOT / "demos" / "pi_mpi4py.py",
]
DIFFERENCE = re.compile(r"= MPI\.Wtime\(\)$|MPI\.Wtime\(\) - |- MPI\.Wtime\(\)|, MPI\.Wtime\(\)$")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_clocks_are_subtracted(path: Path) -> None:
    """A real MPI's clock starts anywhere."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "MPI.Wtime()" in line]
    assert [line for line in lines if not DIFFERENCE.search(line)] == []
