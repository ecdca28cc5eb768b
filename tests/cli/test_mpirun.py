"""`fakempi mpirun`: the command line of mpirun and mpiexec."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakempi.apps.cli import main
from fakempi.apps.cli.real_mpi.mpirun import translated
from tests.isolation.harness import Capture

RUN = ["run", "--quiet", "--mpirun", "-n"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("-n 4 python work.py a -b", [*RUN, "4", "work.py", "a", "-b"]),
        ("-np 2 --oversubscribe --allow-run-as-root --bind-to core python3 -u -m pkg x", [*RUN, "2", "-m", "pkg", "x"]),
        ("--host a,b --map-by=node --mca btl self -n 3 python3.11 -uEs -c pass", [*RUN, "3", "-c", "pass"]),
        ("--np=5 --tag-output python -X dev work.py", [*RUN, "5", "--prefix", "python", "-Xdev", "work.py"]),
        ("-n 5 python -uOWerror work.py", [*RUN, "5", "python", "-O", "-Werror", "work.py"]),
    ],
)
def test_options_of_mpirun_are_translated(words: str, expected: list[str]) -> None:
    """Options that place processes are ignored, and so are options of Python that do not change how programs run."""
    assert translated(words.split()) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("python work.py", "the number of ranks (-n) is missing"), ("-n 2", "the program is missing"),
        ("-n 2 hostname", "is not a Python program"),
        ("-n 2 --unknown python a.py", "option --unknown is not supported"), ("-n", "option -n needs a value"),
        ("-n 1 python a.py : -n 2 python b.py", "several programs"),
    ],
)  # fmt: skip
def test_usage_errors_are_rejected(words: str, message: str, capsys: Capture) -> None:
    """With a sentence, and exit code 2."""
    assert main(["mpirun", *words.split()]) == 2
    assert message in capsys.readouterr().err


SHORT_START = "#!{python}\n"
ENV_START = "#!/usr/bin/env python3\n"
LONG_START = "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n"


@pytest.mark.parametrize("start", [SHORT_START, ENV_START, LONG_START])
def test_a_console_script_is_a_python_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, start: str
) -> None:
    """By its name on PATH or its path, also for `fakempi run` and Spawn; a program in another language is not."""
    script, other = tmp_path / "bin" / "tool", tmp_path / "bin" / "pythonic"
    script.parent.mkdir()
    script.write_text(start.format(python=sys.executable) + "import sys\nprint(*sys.argv[1:])\n")
    other.write_text("#!/opt/python/bin/sh\nls\n")
    for file in (script, other):
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)
    assert main(["mpirun", "-n", "2", "tool", "-a"]) == 0
    assert main(["mpirun", "-n", "2", str(script), "-a"]) == 0
    assert main(["run", "-n", "2", "tool", "-a"]) == 0
    spawn = "from mpi4py import MPI; MPI.COMM_SELF.Spawn('tool', ['-a'], 2)"
    assert main(["run", "-n", "1", "-c", spawn]) == 0
    assert capsys.readouterr().out == "-a\n" * 8
    assert main(["mpirun", "-n", "2", "pythonic"]) == 2


@pytest.mark.parametrize("option", ["--version", "-version", "-V"])
def test_the_version_is_printed(capsys: Capture, option: str) -> None:
    """Test suites read it to find out whether mpiexec exists."""
    assert main(["mpirun", option]) == 0
    assert capsys.readouterr().out.startswith("mpiexec (fakempi) ")


def test_environment_variables_are_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """In the syntax of both libraries; the exit code is the script's."""
    monkeypatch.setenv("FAKEMPI_TEST_A", "0")
    monkeypatch.setenv("FAKEMPI_TEST_B", "0")
    (tmp_path / "work.py").write_text(
        "import os, sys\nfrom mpi4py import MPI\n"
        "print(os.environ['FAKEMPI_TEST_A'], os.environ['FAKEMPI_TEST_B'])\nsys.exit(3)\n"
    )
    words = ["-x", "FAKEMPI_TEST_A=1", "-genv", "FAKEMPI_TEST_B", "2", "-n", "2", "python"]
    assert main(["mpirun", *words, str(tmp_path / "work.py")]) == 3
    assert capsys.readouterr().out == "1 2\n1 2\n"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the commands are shell scripts")
def test_a_process_that_a_script_starts_finds_mpirun_and_mpiexec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `fakempi run --mpirun`, and in the directory that `--path` prints."""
    (tmp_path / "inner.py").write_text("from mpi4py import MPI\nprint(MPI.COMM_WORLD.allgather(MPI.COMM_WORLD.rank))\n")
    inner = ["mpiexec", "-n", "3", sys.executable, str(tmp_path / "inner.py")]
    code = f"import subprocess\ndone = subprocess.run({inner!r}, capture_output=True, text=True, check=True, timeout=270)\n"
    code += "assert done.stdout == '[0, 1, 2]\\n' * 3\n"
    (tmp_path / "outer.py").write_text(code)
    before = os.environ["PATH"]
    assert main(["run", "-n", "1", "--mpirun", str(tmp_path / "outer.py")]) == 0
    assert os.environ["PATH"] == before
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["mpirun", "--path"]) == 0
    (directory,) = (tmp_path / "fakempi").iterdir()
    assert sorted(path.name for path in directory.iterdir()) == ["mpiexec", "mpirun"]
    assert all(os.access(path, os.X_OK) for path in directory.iterdir())
    command = [str(directory / "mpirun"), *inner[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=270)
    assert done.stdout == "[0, 1, 2]\n" * 3
