"""Files that people exchange end in a result or in a sentence that names them, and never run code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="python -m tests.fuzz.files measures the memory as Linux reports it")
def test_mutants_of_files_end_in_a_result_or_a_sentence() -> None:
    """In a separate process, whose children have limits on CPU time and memory; .ci/full tries 10,000 of each kind."""
    command = [sys.executable, "-m", "tests.fuzz.files", "5"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].startswith("26 kinds of files, 130 mutants: 0 tracebacks, 0 ran code, 0 without ")
