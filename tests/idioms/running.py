"""Idioms of scripts that use mpi4py, and what they print on a real MPI and here.

    python -m tests.idioms [NAME ...]            run each on MPICH, with `fakempi run`, and with `--processes`; show differences
    python -m tests.idioms --record [NAME ...]   run each on MPICH and write recorded.json

An idiom is a script, or a directory that is run with `-m` or as a zip file. Comments at its beginning set how it is run:

    # ranks: 2            number of ranks; 3 without the comment
    # args: -n 5          arguments
    # stdin: 1 2\\n        standard input of rank 0
    # command: -c         the script is the argument of -c; with `-`, it is the standard input
    # order: exact        the lines have an order, because ranks wait for each other
"""

from __future__ import annotations

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

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
RECORDED = HERE / "recorded.json"
LIMIT = 120  # seconds of a run


class Printed(NamedTuple):
    """Exit status and lines of standard output. Lines of different ranks have no order, so they are sorted unless the idiom orders them."""

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
    def input(self) -> bytes:
        if self.options.get("command") == "-":
            return self.text.encode()
        return self.options.get("stdin", "").replace("\\n", "\n").encode()

    def printed(self, status: int, output: bytes) -> Printed:
        """What a run printed, in a form that is equal for equal runs."""
        lines = output.decode(errors="backslashreplace").split("\n")
        return Printed(status, lines if self.options.get("order") == "exact" else sorted(line for line in lines if line))


def idioms(directory: Path) -> Iterator[Idiom]:
    """All idioms. Zip files are made in `directory`."""
    for path in sorted(SCRIPTS.iterdir()):
        if path.suffix == ".py":
            text = path.read_text(encoding="utf-8")
            options = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
            how = {"-c": ["-c", text], "-": ["-"]}.get(options.get("command", ""), [str(path)])
            yield Idiom(path.stem, [*how, *shlex.split(options.get("args", ""))], text, options)
    yield Idiom("as_package", ["-m", "as_package", "one", "two"])
    yield Idiom("as_directory", [str(SCRIPTS / "as_application")])
    archive = directory / "application.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted((SCRIPTS / "as_application").glob("*.py")):
            file.write(path, path.name)
    yield Idiom("as_zip_file", [str(archive)])


def run(idiom: Idiom, launcher: list[str]) -> tuple[Printed, str]:
    """Run an idiom with a launcher, in the directory of the scripts; return also its standard error."""
    done = subprocess.run(
        [*launcher, *idiom.command], input=idiom.input, capture_output=True, timeout=LIMIT, cwd=SCRIPTS,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )  # fmt: skip
    return idiom.printed(done.returncode, done.stdout), done.stderr.decode(errors="backslashreplace")


def on_mpich(idiom: Idiom) -> list[str]:
    """Start the ranks with the mpiexec of this environment."""
    return [str(Path(sys.executable).with_name("mpiexec")), "-n", str(idiom.ranks), sys.executable]


def with_fakempi(idiom: Idiom, *options: str) -> list[str]:
    """Start the ranks with the command line of fakempi."""
    return [sys.executable, "-m", "fakempi", "run", "-n", str(idiom.ranks), *options]


def recorded() -> dict[str, Printed]:
    """What the idioms print on MPICH."""
    return {name: Printed(*found) for name, found in json.loads(RECORDED.read_text(encoding="utf-8")).items()}
