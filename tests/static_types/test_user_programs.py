"""Programs of users type-check with mypy and pyright, with either MPI; wrong ones are rejected."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import fakempi
from tests.helpers.mpi4py_stub import MISSING, stub_file
from tests.static_types import mpi_program, run_program
from tests.static_types.stub_comparison import ROOT, mypy

HERE = Path(__file__).parent
OURS = (HERE / "mpi_program.py").read_text(encoding="utf-8")
THEIRS = OURS.replace("from fakempi import MPI", "from mpi4py import MPI")
OWN_API = (HERE / "run_program.py").read_text(encoding="utf-8")
WRONG = """\
import fakempi
from fakempi import MPI

def main(comm: MPI.Intracomm, n: int) -> int:
    comm.Send(bytearray(1), dest="1")  # error
    comm.Split().Scan(bytearray(1), bytearray(1))  # error
    return comm.rank + comm.name  # error

fakempi.run(main, 2)  # error
fakempi.run(main, 2, "three")  # error
fakempi.run(main, 2, 3, backend="fibers")  # error
fakempi.run(main, 2, 3, fused="maybe")  # error
fakempi.run(main, 2, 3).returns[0].upper()  # error
fakempi.explore(main, 2, 3, buffering="much")  # error
fakempi.rnu(main, 2, 3)  # error
MPI.COMM_WORD.Get_rank()  # error
"""
EXPECTED = [number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("# error")]

needs_stubs = pytest.mark.skipif(stub_file() is None, reason=MISSING)
needs_pyright = pytest.mark.skipif(find_spec("pyright") is None, reason="no pyright: python -m pip install pyright[nodejs]")


@pytest.mark.sample
@pytest.mark.slow
@needs_stubs
def test_mypy_accepts_the_programs_and_rejects_wrong_ones() -> None:
    """In strict mode."""
    lines = mypy({"ours.py": OURS, "theirs.py": THEIRS, "own_api.py": OWN_API, "wrong.py": WRONG})
    errors = [line for line in lines if ": error: " in line]
    assert [line for line in errors if not line.startswith("wrong.py")] == []
    assert sorted({int(line.split(":")[1]) for line in errors}) == EXPECTED


@pytest.mark.slow
@needs_stubs
@needs_pyright
def test_pyright_accepts_the_programs_and_rejects_wrong_ones(tmp_path: Path) -> None:
    """In basic mode; the program with fakempi's own API in strict mode, which reports every unknown type."""
    for name, text in {"ours.py": OURS, "theirs.py": THEIRS, "own_api.py": OWN_API, "wrong.py": WRONG}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    settings = {"typeCheckingMode": "basic", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=270)
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == 4
    errors = [
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in report["generalDiagnostics"]
    ]
    assert [error for error in errors if error[0] != "wrong.py"] == []
    assert sorted({line for _, line, _ in errors}) == EXPECTED


def test_the_programs_run(tmp_path: Path) -> None:
    """Annotations that no program could satisfy would be of no use."""

    def main(comm: fakempi.MPI.Intracomm) -> tuple[int, int]:
        arrived, source = mpi_program.exchange(comm, np.full(3, float(comm.rank)))
        assert (arrived == source).all()
        mpi_program.communicators(comm)
        mpi_program.memory_and_files(comm, str(tmp_path / "data"))
        assert "rank" in mpi_program.guarded(comm)
        return source, mpi_program.collectives(comm)

    assert fakempi.run(main, 3).returns == [(2, 2), (0, 2), (1, 2)]
    run_program.results()
    run_program.schedules()
    assert len(run_program.models()) == 4
    fakempi.run(run_program.algorithms, 1)
