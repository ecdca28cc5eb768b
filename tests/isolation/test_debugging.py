"""`breakpoint()` and pdb on any rank: the prompt names the rank that has the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.isolation.harness import COMM

ROOT = Path(__file__).parents[2]


def debug(directory: Path, script: str, backend: Any, ranks: int, *answers: str) -> list[str]:
    """The output of a script for these answers, without the lines where it stops, in a process: pytest replaces pdb."""
    (directory / "work.py").write_text(COMM + dedent(script))
    words = [sys.executable, "-m", "fakempi", "run", "-n", str(ranks), "--backend", backend, "work.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    text = "".join(f"{answer}\n" for answer in answers)
    done = subprocess.run(
        words, cwd=directory, env=environment, input=text, text=True, capture_output=True, timeout=270, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.splitlines() if not line.startswith(("> ", "->", "--"))]


@pytest.mark.slow
def test_any_rank_gets_the_terminal(tmp_path: Path, backend: Any) -> None:
    """One rank after the other; the prompt names it, and input and output are the rank's."""
    script = """
    x = comm.rank * 10
    print("before", end=" ")
    if comm.rank:
        breakpoint()
        x += 1
    comm.Barrier()
    print(comm.rank, x)
    """
    lines = debug(tmp_path, script, backend, 3, "p x", "!x = 5", "c", "p x", "c")
    assert [line.partition(f"> {tmp_path}")[0] for line in lines] == [
        "before ", "(Pdb, rank 1) 10", "(Pdb, rank 1) (Pdb, rank 1) before ", "(Pdb, rank 2) 20", "(Pdb, rank 2) before 0 0",
        "1 6", "2 21",
    ]  # fmt: skip


@pytest.mark.sample
@pytest.mark.slow
def test_a_debugger_follows_one_rank_only(tmp_path: Path, backend: Any) -> None:
    """A step over a call that waits ends in the next line of the same rank; meanwhile another rank may be debugged."""
    script = """
    def work(me):
        got = comm.sendrecv(me, 1 - me)
        got += 100
        return got
    import pdb
    pdb.set_trace()
    print("got", work(comm.rank))
    """
    lines = debug(tmp_path, script, backend, 2, "b work", "c", "n", "p 'other'", "c", "p me, got", "n", "p me, got", "c")
    assert [line for line in lines if f"> {tmp_path}" not in line][-5:] == [
        "(Pdb, rank 1) 'other'", "(Pdb, rank 0) (0, 1)", "(Pdb, rank 0) (0, 101)", "(Pdb, rank 0) got 101", "got 100",
    ]  # fmt: skip
