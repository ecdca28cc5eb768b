"""Runs under coverage.py: ranks run on threads unless coverage.py is configured for greenlets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fakempi.extensions.threads.measuring import needs_threads
from tests.helpers.packages import needs

TRACER = type("Tracer", (), {"__module__": "coverage.tracer", "__call__": lambda self, frame, event, argument: None})


@pytest.mark.parametrize(("concurrency", "expected"), [([], True), (["thread"], True), (["thread", "greenlet"], False)])
def test_threads_are_needed_while_coverage_measures_without_greenlets(
    monkeypatch: pytest.MonkeyPatch, concurrency: list[str], expected: bool
) -> None:
    """By the function that traces this thread, and by coverage's configuration."""
    module: Any = ModuleType("coverage")
    current = SimpleNamespace(get_option=lambda name: concurrency)
    module.Coverage = SimpleNamespace(current=lambda: current)
    monkeypatch.setitem(sys.modules, "coverage", module)
    before = sys.gettrace()
    sys.settrace(TRACER())
    try:
        found = needs_threads()
        sys.settrace(lambda frame, event, argument: None)
        other = needs_threads()
    finally:
        sys.settrace(before)
    assert (found, other) == (expected, False)


@pytest.mark.slow
def test_coverage_of_a_script_has_all_lines(tmp_path: Path) -> None:
    """With coverage.py itself, in a separate process."""
    needs("coverage")
    lines = ["from mpi4py import MPI", "comm = MPI.COMM_WORLD", "def f():", "    x = 1", "    comm.Barrier()", "    y = x",
             "    return y", "f()", "if comm.rank:", "    comm.send(f(), 0)", "    z = 1", "else:", "    f()",
             "    comm.recv()", "    z = 2"]  # fmt: skip
    (tmp_path / "work.py").write_text("\n".join(lines) + "\n")
    start = [sys.executable, "-m", "coverage"]
    options = ["--data-file", str(tmp_path / "data"), "--rcfile", "/dev/null"]
    run = [*start, "run", *options, "--include", str(tmp_path / "work.py"), "-m", "fakempi", "run", "-n", "2"]
    subprocess.run([*run, str(tmp_path / "work.py")], check=True, timeout=270)
    done = subprocess.run([*start, "report", *options, "-m"], capture_output=True, text=True, check=True, timeout=270)
    assert "100%" in done.stdout, done.stdout
