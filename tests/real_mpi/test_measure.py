"""`python -m collectives.measure` on a real MPI, and its output in `fakempi compare --beside`."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from collectives import Case, find
from collectives.schedules import record
from fakempi.apps.cli import main
from tests.cli.test_running import Capture
from tests.real_mpi.processes import WAITING


def measured(processes: int, *words: str) -> subprocess.CompletedProcess[str]:
    """The output under mpiexec."""
    sibling = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(sibling) if sibling.exists() else shutil.which("mpiexec")
    if mpiexec is None or PathFinder.find_spec("mpi4py") is None:
        pytest.skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    root = str(Path(__file__).parents[2])
    command = [mpiexec, "-n", str(processes), sys.executable, "-m", "collectives.measure", *words]
    environment = {**os.environ, **WAITING, "PYTHONPATH": root}
    return subprocess.run(command, capture_output=True, text=True, timeout=270, check=False, cwd=root, env=environment)


def check_success(done: subprocess.CompletedProcess[str]) -> None:
    """The program has reported nothing; the MPI library may have printed a warning."""
    assert done.returncode == 0, done.stderr
    assert not any(words in done.stderr for words in ("Traceback", "usage:", "collectives.measure:")), done.stderr


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("processes", "words"),
    [
        (2, ["reduce_scatter", "--algorithms", "ring,pairwise", "--distribution", "spike"]),
        (3, ["inter:allgather", "--groups", "2+1"]),
        (3, ["bcast"]),
    ],
)
def test_measurements_are_shown_next_to_the_model(
    processes: int, words: list[str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table, and a CSV that the comparison reads; every number is positive, and the median is between the others."""
    file = tmp_path / "measured.csv"
    done = measured(processes, *words, "--bytes", "8,1k", "--repeats", "3", "--csv", str(file))
    check_success(done)
    assert done.stdout.startswith(f"{words[0]} on {'2+1' if 'inter' in words[0] else processes} processes, 3 repeats, ")
    lines = list(csv.DictReader(file.read_text().splitlines()))
    assert {line["bytes"] for line in lines} == {"8", "1024"}
    served = [line for line in lines if not line["refused"]]
    assert len(served) >= 4
    assert all(0 < float(line["least"]) <= float(line["seconds"]) <= float(line["most"]) for line in served)
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["compare", words[0], "--beside", str(file)]) == 0
    out, _ = capsys.readouterr()
    rows = [line for line in out.splitlines() if line.split()[:1] == ["measured"]]
    assert len(rows) == len({line["algorithm"] for line in lines if not line["refused"]})
    assert not any("-" in row for row in rows)


def test_schedule_files_are_measured_and_compared(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """In all three formats, next to the algorithm that they were recorded from, and in modeled time afterwards."""
    schedule = record(find("allreduce", "ring"), Case(p=4, m=64))
    paths = [str(tmp_path / f"ring.{suffix}") for suffix in ("json", "goal", "xml")]
    for path in paths:
        schedule.save(path)
    file = tmp_path / "measured.csv"
    words = ["allreduce", "--algorithms", ",".join(["ring", *paths]), "--bytes", "64,65", "--repeats", "3"]
    done = measured(4, *words, "--csv", str(file))
    check_success(done)
    lines = list(csv.DictReader(file.read_text().splitlines()))
    assert [(line["algorithm"], line["bytes"]) for line in lines if not line["refused"]] == [
        *((name, "64") for name in ("ring", *paths)), ("ring", "65")
    ]  # fmt: skip
    assert {line["refused"].partition(" which ")[2] for line in lines if line["refused"]} == {
        "does not divide 65 bytes into whole elements of 1 byte"
    }
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["compare", "allreduce", "--beside", str(file)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "ring.xml" in line]
    assert rows


def test_usage_errors_are_reported_by_one_process() -> None:
    """All processes end."""
    done = measured(2, "bcast", "--bytes", "many")
    assert done.returncode == 2
    assert done.stderr == "collectives.measure: 'many' is not a number: use a form such as 0, 1500, 64k or 1M.\n"
