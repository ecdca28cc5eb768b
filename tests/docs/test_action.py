"""The composite action: its steps, as bash runs them, in a project with tests and scripts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
FILES = {
    "test_small.py": "from mpi4py import MPI\n\n\ndef test_small():\n    assert MPI.COMM_WORLD.allreduce(1) < 3\n",
    "good.py": "from mpi4py import MPI\nprint(MPI.COMM_WORLD.allreduce(1))\n",
    "race.py": "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nif comm.rank:\n    comm.send(comm.rank, 0)\n"
    "else:\n    assert [comm.recv() for _ in range(comm.size - 1)][0] == 1\n",
    "dead.py": "from mpi4py import MPI\nMPI.COMM_WORLD.recv(source=2 - MPI.COMM_WORLD.rank)\n",
}


def steps() -> dict[str, tuple[list[str], str]]:
    """The variables and the command of each step, by name."""
    found = {}
    for text in ACTION.partition("steps:")[2].split("- name: ")[1:]:
        variables = re.findall(r"^        ([A-Z_]+): \$\{\{", text, re.MULTILINE)
        found[text.partition("\n")[0]] = variables, re.findall(r"run: (.+)", text)[0]
    return found


def run_step(name: str, directory: Path, inputs: dict[str, str]) -> int:
    """Run a step with these inputs; returns its exit code."""
    variables, command = steps()[name]
    assert set(variables) == set(inputs)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **inputs, "PATH": path, "GITHUB_ACTION_PATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command], cwd=directory, env=environment, capture_output=True, timeout=270
    ).returncode


def test_the_action_installs_itself_by_default() -> None:
    """Or what the input names."""
    assert steps()["install"] == (["INSTALL"], 'python -m pip install "${INSTALL:-$GITHUB_ACTION_PATH}" greenlet pytest')
    assert list(steps()) == ["install", "tests", "scripts"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="the steps need bash")
def test_the_steps_do_all_their_work_and_summarize_it(tmp_path: Path) -> None:
    """They fail at the end; a script that fails leaves a page."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    summary = {"SUMMARY": "summary.md"}
    assert run_step("tests", tmp_path, {"TESTS": "-q -p no:cacheprovider test_small.py", "RANKS": "2 3", **summary}) == 1
    assert run_step("tests", tmp_path, {"TESTS": "-q -p no:cacheprovider test_small.py", "RANKS": "1", **summary}) == 0
    checked = {"CHECK": "dead.py good.py race.py", "CHECK_RANKS": "3", "PAGES": "pages"}
    assert run_step("scripts", tmp_path, {**checked, **summary}) == 1
    lines = (tmp_path / "summary.md").read_text(encoding="utf-8").splitlines()
    assert "| 2 | passed | all 2 ranks: 1 passed |" in lines
    assert "| 3 | failed (1) | all 3 ranks: 1 failed |" in lines
    assert "| good.py | passed | clean: all 2 schedules |" in lines
    assert any(line.startswith("| dead.py | failed (1) |") for line in lines)
    assert any(line.startswith("| race.py | failed (1) |") for line in lines)
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["dead.html", "race.html"]
    assert "deadlock" in (tmp_path / "pages" / "dead.html").read_text(encoding="utf-8")
    assert "AssertionError" in (tmp_path / "pages" / "race.html").read_text(encoding="utf-8")  # not in the default schedule
