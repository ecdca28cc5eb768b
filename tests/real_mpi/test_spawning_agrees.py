"""The emulator and a real MPI: a program that spawns, merges, splits and connects has the same results, as an unmodified
script.

Published names are not compared: MPICH needs a separate name server for them, which PyPI's does not start.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program
from tests.real_mpi.processes import run_script

PARENT = str(Path(__file__).with_name("spawning_parent.py"))


@cache
def real(ranks: int) -> Any:
    """The output of a real MPI."""
    done = run_script(PARENT, ranks=ranks)
    if "ERR_SPAWN" in done.stderr or "ERR_UNSUPPORTED" in done.stderr:
        pytest.skip("this MPI library cannot spawn")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("ranks", [1, 3])
def test_spawning_agrees_with_a_real_mpi(ranks: int, backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Error codes, sizes, the order of merged ranks, results of splits, APPNUM, arguments, and ports."""
    expected = real(ranks)
    capsys.readouterr()
    done = fakempi.run(Program([PARENT]), ranks, backend=backend)
    assert done.returns == [0] * ranks
    assert len(done.clocks) == ranks + 3 + 3 + 2
    assert json.loads(capsys.readouterr().out) == expected
