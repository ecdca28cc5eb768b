"""`--ignore`, comments and pyproject.toml in `fakempi run` and `fakempi check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakempi.apps.cli import main

LOST = """import helper
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 0:
    comm.send(1, 1){}
helper.size(comm)
"""
HELPER = "def size(comm):\n    return comm.size  # fakempi: ignore[epoch]\n"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with a script that sends a message which no rank receives."""
    (tmp_path / "lost.py").write_text(LOST.format(""))
    (tmp_path / "known.py").write_text(LOST.format("  # fakempi: ignore[message-lost]"))
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("more", [[], ["--processes"]])
def test_a_suppressed_finding_does_not_count(capsys: Capture, more: list[str]) -> None:
    """A strict run lists it separately and ends with 0; an unused suppression is named."""
    assert main(["run", "-n", "2", "--strict", *more, "lost.py"]) == 3
    capsys.readouterr()
    assert main(["run", "-n", "2", "--strict", *more, "known.py"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fakempi: 1 finding suppressed"
    assert lines[1].startswith("  suppressed (the comment at known.py:5): message-lost: rank 0: send at known.py:5")
    if not more:  # the parent does not know which modules children have loaded
        assert lines[2:] == ["fakempi: 1 suppression matches no finding: the comment at helper.py:2 (epoch)"]
    options = ["--strict", "--ignore", "epoch,message-lost", "--findings", "json", *more]
    assert main(["run", "-n", "2", *options, "lost.py"]) == 0
    assert json.loads(capsys.readouterr().err.splitlines()[0]) == []


@pytest.mark.parametrize("command", [["run"], ["check", "-q"]])
def test_wrong_kinds_are_usage_errors(capsys: Capture, command: list[str]) -> None:
    """With a similar kind, or with the reason; also in a comment of a module."""
    assert main([*command, "-n", "2", "--ignore", "lost-message", "lost.py"]) == 2
    assert "--ignore lost-message: the kind 'lost-message' is unknown; did you mean message-lost?" in capsys.readouterr().err
    assert main([*command, "-n", "2", "--ignore", "deadlock", "lost.py"]) == 2
    assert "it ends the run, so it cannot be suppressed" in capsys.readouterr().err
    Path("helper.py").write_text(HELPER.replace("epoch", "epochs"))
    assert main([*command, "-n", "2", "known.py"]) == 2
    sentence = "helper.py:2: # fakempi: ignore[epochs]: the kind 'epochs' is unknown; did you mean epoch?"
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_search_reports_what_was_suppressed(capsys: Capture, jobs: str) -> None:
    """Below the verdict; an entry in pyproject.toml is enough for a package that loses a message."""
    command = ["check", "-q", "-n", "2", "--jobs", jobs, "lost.py"]
    assert main(command) == 1
    capsys.readouterr()
    Path("pyproject.toml").write_text('[tool.fakempi]\nignore = [{kind = "message-lost", file = "lost.py", reason = "old"}]')
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines() == [
        "clean: all 2 schedules",
        "suppressed: message-lost (pyproject.toml: old)",
        "1 suppression matches no finding: the comment at helper.py:2 (epoch)",
    ]
