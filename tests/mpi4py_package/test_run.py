"""`-m mpi4py` and `-m mpi4py.run`, with their options."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import fakempi
from fakempi.isolation import Program

Capture = pytest.CaptureFixture[str]

SCRIPT = """
import sys
import mpi4py
from mpi4py import MPI
assert sys.modules["__main__"].__dict__ is globals() and sys.path[0] == DIRECTORY
aborts = MPI.COMM_WORLD.Get_errhandler() == MPI.ERRORS_ABORT
print(sys.argv[1:], MPI.Query_thread() == MPI.THREAD_SINGLE, aborts, mpi4py.rc.threads)
if "exit" in sys.argv and MPI.COMM_WORLD.rank == 1:
    sys.exit(5)
if "fail" in sys.argv and MPI.COMM_WORLD.rank == 1:
    raise ValueError("rank 1 alone")
MPI.COMM_WORLD.Barrier()
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    """The path of a script."""
    path = tmp_path / "work.py"
    path.write_text(SCRIPT.replace("DIRECTORY", repr(str(tmp_path))), encoding="utf-8")
    return str(path)


def run_command(*command: str, nprocs: int = 2) -> list[int]:
    """The exit codes of the ranks."""
    return fakempi.run(Program(["-m", *command]), nprocs).returns


@pytest.mark.parametrize("name", ["mpi4py", "mpi4py.run"])
@pytest.mark.parametrize("given", [["-rc", "threads=False,errors=abort"], ["--rc=threads=0", "--rc", "errors=abort"]])
def test_options_are_set_before_the_script_starts(name: str, given: list[str], script: str, capsys: Capture) -> None:
    """On every rank."""
    assert run_command(name, *given, script, "a", "b") == [0, 0]
    said = "['a', 'b'] True True " + ("0" if "=threads" in given[0] else "False")
    assert capsys.readouterr().out.splitlines() == [said] * 2


def test_without_options_the_script_runs_unchanged(script: str, capsys: Capture) -> None:
    """With its arguments."""
    assert run_command("mpi4py", script) == [0, 0]
    assert capsys.readouterr().out.splitlines() == ["[] False False True"] * 2


def test_modules_and_code_and_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of Python's forms."""
    monkeypatch.setattr("sys.stdin", io.StringIO("print('read')"))
    for command in (["-c", "import sys; print(sys.argv, __name__)", "x"], ["-"]):
        assert run_command("mpi4py", "--rc", "threads=True", *command, nprocs=1) == [0]
    run_command("mpi4py", "--rc", "threads=True", "-m", "this", nprocs=1)
    assert capsys.readouterr().out.splitlines()[:3] == ["['-c', 'x'] __main__", "read", "The Zen of Python, by Tim Peters"]


def test_an_exit_code_of_one_rank_ends_all(script: str) -> None:
    """So does an exception, which is shown."""
    for word, kind, text in [("exit", "Aborted", "Abort(5) was called"), ("fail", "ValueError", "rank 1 alone")]:
        with pytest.raises(fakempi.RankError) as caught:
            run_command("mpi4py", "--rc", "threads=True", script, word)
        assert (type(caught.value.exception).__name__, str(caught.value.exception)) == (kind, text)


def test_queries_are_answered(capsys: Capture) -> None:
    """And the ranks end."""
    for option in ("--version", "--mpi-std-version", "--mpi-lib-version", "--prefix", "--mpi-library", "-h"):
        assert run_command("mpi4py", option, nprocs=1) == [0]
    said = capsys.readouterr().out
    assert said.startswith("mpi4py 4.1.2\nMPI 4.")
    assert "mpi4py.run [option ...] script.py [argument ...]" in said


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "no script, module or code to run."),
        (["--nothing", "x.py"], "unknown option --nothing."),
        (["--rc"], "--rc must be followed by options, such as threads=False."),
        (["--rc", "threads", "x.py"], "an option of rc must have the form name=value, not 'threads'."),
        (["--rc", "threads=1", "-m"], "-m must be followed by a module name."),
    ],
)
def test_usage_errors_are_rejected(given: list[str], words: str, capsys: Capture) -> None:
    """With a sentence, and the valid options."""
    assert run_command("mpi4py", *given, nprocs=1) == [1]
    assert capsys.readouterr().err.startswith(f"mpi4py.run: {words}\nusage: ")
