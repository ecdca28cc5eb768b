"""Idioms of scripts that use mpi4py, and what they print on a real MPI and here.

    python -m tests.idioms [NAME ...]            on MPICH, with `fakempi run`, and with `--processes`: print differences
    python -m tests.idioms --here [NAME ...]     in one process, compared with recorded.json, in a few seconds; --all
    python -m tests.idioms --record [NAME ...]   run them on MPICH and write recorded.json

An idiom is a script, or a directory that is run with `-m` or as a zip file. Comments in a script set how it is run:

    # ranks: 2            number of ranks; 3 without the comment
    # args: -n 5          arguments
    # stdin: 1 2\\n        standard input of rank 0
    # python: -u -O       options of Python before the script
    # command: -c         the script is the argument of -c; with `-`, it is the standard input
    # order: exact        the order of lines is compared, too, because ranks wait for each other
    # when: full          only .ci/full runs it; `--here` does with its name or with `--all`
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from fakempi.apps.cli import main
from tests.real_mpi.processes import mpiexec

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
RECORDED = HERE / "recorded.json"
LIMIT = 270  # seconds of a run
WAYS = {"one process": [], "processes": ["--processes"]}
"""Options of `fakempi run`."""

NOT_HERE = {
    "faulthandler_enabled", "finalizers", "fork_and_exit", "fork_and_pipe", "fork_workers_use_rank",
    "multiprocessing_shared", "print_options", "python_options", "stdin_select", "subprocess_inherited", "subprocess_pipes",
    "sys_flags", "write_to_descriptor",
}  # fmt: skip
"""Idioms that need a separate process: file descriptors, forks, another interpreter, output at the end of Python."""


class Printed(NamedTuple):
    """Exit status and lines of standard output, sorted unless the idiom orders them."""

    status: int
    lines: list[str]


@dataclass
class Idiom:
    """A script and how it is run."""

    name: str
    command: list[str]
    text: str = ""
    options: dict[str, str] = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        return int(self.options.get("ranks", 3))

    @property
    def python(self) -> list[str]:
        """The word `python`, which `fakempi run` needs before options of Python."""
        return ["python"] if "python" in self.options else []

    @property
    def input(self) -> bytes:
        if self.options.get("command") == "-":
            return self.text.encode()
        return self.options.get("stdin", "").replace("\\n", "\n").encode()

    def printed(self, status: int, output: bytes) -> Printed:
        """Return the output of a run in a form that is equal for equal runs."""
        lines = output.decode(errors="backslashreplace").split("\n")
        return Printed(status, lines if self.options.get("order") == "exact" else sorted(line for line in lines if line))


def idioms(directory: Path) -> Iterator[Idiom]:
    """All idioms. Zip files are made in `directory`."""
    for path in sorted(SCRIPTS.iterdir()):
        if path.suffix == ".py":
            text = path.read_text(encoding="utf-8")
            options = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
            how = {"-c": ["-c", text], "-": ["-"]}.get(options.get("command", ""), [str(path)])
            flags = shlex.split(options.get("python", ""))
            yield Idiom(path.stem, [*flags, *how, *shlex.split(options.get("args", ""))], text, options)
    yield Idiom("as_package", ["-m", "as_package", "one", "two"])
    yield Idiom("as_directory", [str(SCRIPTS / "as_application")])
    archive = directory / "application.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted((SCRIPTS / "as_application").glob("*.py")):
            file.write(path, path.name)
    yield Idiom("as_zip_file", [str(archive)])


def run(idiom: Idiom, way: str) -> tuple[Printed, str]:
    """Run an idiom in one of `WAYS` or on MPICH; return what it printed, and its standard error."""
    ranks = ["-n", str(idiom.ranks)]
    if way == "mpich":
        launcher = [mpiexec(), *ranks, sys.executable]
    else:
        launcher = [sys.executable, "-m", "fakempi", "run", *ranks, *WAYS[way], *idiom.python]
    done = subprocess.run(
        [*launcher, *idiom.command], input=idiom.input, capture_output=True, timeout=LIMIT, cwd=SCRIPTS, check=False,
        env={**environment(), "PYTHONPATH": str(HERE.parents[1])},
    )  # fmt: skip
    return idiom.printed(done.returncode, done.stdout), done.stderr.decode(errors="backslashreplace")


def environment() -> dict[str, str]:
    """Return the variables of this process without those that change how Python writes."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONUNBUFFERED", "PYTHONIOENCODING")}


def run_here(idiom: Idiom) -> tuple[Printed, str]:
    """Run an idiom by the command line in this process."""
    before, directory = (sys.stdin, sys.stdout, sys.stderr), os.getcwd()
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(stream, encoding="utf-8") for stream in (io.BytesIO(idiom.input), out, err)
    )
    streams = sys.stdout, sys.stderr
    os.chdir(SCRIPTS)
    try:
        status = main(["run", "-n", str(idiom.ranks), *idiom.python, *idiom.command])
    finally:
        os.chdir(directory)
        for stream in streams:
            stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before
    return idiom.printed(status, out.getvalue()), err.getvalue().decode(errors="backslashreplace")


def recorded() -> dict[str, Printed]:
    """Return the recorded output of the idioms on MPICH."""
    return {name: Printed(*found) for name, found in json.loads(RECORDED.read_text(encoding="utf-8")).items()}
