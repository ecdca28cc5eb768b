"""The emulator and a real MPI: a program that spawns, merges, splits and connects finds the same, as an unmodified script.

Published names are not compared: MPICH needs a name server of its own for them, which PyPI's does not start.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.script import program
from tests.real_mpi.asking import started

PARENT = str(Path(__file__).with_name("spawning_parent.py"))


@cache
def real(ranks: int) -> Any:
    """What a real MPI prints."""
    done = started(PARENT, ranks=ranks)
    if "ERR_SPAWN" in done.stderr or "ERR_UNSUPPORTED" in done.stderr:
        pytest.skip("this MPI library cannot spawn")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("ranks", [1, 3])
def test_spawning_agrees_with_a_real_mpi(ranks: int, carrier: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Error codes, sizes, the order of ranks when merged, what splits leave, APPNUM, arguments, and ports."""
    expected = real(ranks)
    capsys.readouterr()
    done = fakempi.run(program([PARENT]), ranks, carrier=carrier)
    assert done.returns == [0] * ranks
    assert len(done.clocks) == ranks + 3 + 3 + 2
    assert json.loads(capsys.readouterr().out) == expected
