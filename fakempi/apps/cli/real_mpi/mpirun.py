"""`fakempi mpirun`: the options of mpirun and mpiexec, for test suites and scripts that start these commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fakempi.core import options as parse
from fakempi.mpi.comms.console_scripts import console_script
from fakempi.mpi.comms.python_options import python_options

COUNTS = frozenset({"-n", "-np", "--n", "--np", "-c"})
SET = frozenset({"-env", "-genv", "--env", "--genv"})
"""Options that take the name and the value of an environment variable."""

IGNORED = {
    **dict.fromkeys(("-allow-run-as-root", "-l", "-oversubscribe", "-q", "-quiet", "-report-bindings", "-v", "-verbose"), 0),
    **dict.fromkeys(("-bind-to", "-bind-to-core", "-f", "-host", "-hostfile", "-H", "-hosts", "-machinefile", "-map-by",
                     "-N", "-ppn", "-perhost", "-rank-by", "-timeout", "-iface", "-launcher"), 1),
    **dict.fromkeys(("-mca", "-gmca", "-prtemca", "-pmixmca"), 2),
}  # fmt: skip
"""Options without a meaning in one process, and the number of arguments of each; also with two dashes."""

HINT = "fakempi mpirun -n 4 [options] python script.py [arguments]"


def translated(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of `mpirun` as arguments of `fakempi`; sets environment variables and the working directory."""
    remaining, count, more = list(arguments), "", []
    if remaining[:1] in (["--help"], ["-h"], ["-help"]):
        return ["mpirun", "--help"]
    if remaining[:1] in (["--version"], ["-version"], ["-V"]):
        return ["mpirun", "--version"]
    while remaining and remaining[0].startswith("-"):
        option = remaining.pop(0)
        short = option[1:] if option.startswith("--") else option
        if "=" in option and option.partition("=")[0] in COUNTS:
            count = option.partition("=")[2]
        elif option in COUNTS:
            count = _next_argument(option, remaining)
        elif option in SET:
            name = _next_argument(option, remaining)
            os.environ[name] = _next_argument(option, remaining)
        elif option == "-x":
            name, equals, value = _next_argument(option, remaining).partition("=")
            os.environ[name] = value if equals else os.environ.get(name, "")
        elif short in ("-wdir", "-wd"):
            os.chdir(_next_argument(option, remaining))
        elif short in ("-tag-output", "-prepend-rank"):
            more.append("--prefix")
        elif short.partition("=")[0] in IGNORED:
            del remaining[: 0 if "=" in short else IGNORED[short]]
        else:
            raise parse.usage_error(f"option {option} is not supported. {HINT}")
    if ":" in remaining:
        raise parse.usage_error("several programs (separated by ':') are not supported.")
    if not count:
        raise parse.usage_error(f"the number of ranks (-n) is missing. {HINT}")
    return ["run", "--quiet", "--mpirun", "-n", count, *more, *_program(remaining)]


def _next_argument(option: str, remaining: list[str]) -> str:
    if not remaining:
        raise parse.usage_error(f"option {option} needs a value.")
    return remaining.pop(0)


def _program(command: list[str]) -> list[str]:
    """Return the script or module and its arguments; with `python` if it has options that change how programs run."""
    if not command:
        raise parse.usage_error(f"the program is missing. {HINT}")
    name = os.path.basename(command[0])
    if not (name.startswith("python") or command[0] == sys.executable):
        if command[0].endswith(".py") and os.path.isfile(command[0]):
            return command
        if path := console_script(command[0]):
            return [path, *command[1:]]
        raise parse.usage_error(f"{command[0]} is not a Python program. {HINT}")
    options, remaining = python_options(command[1:])
    return ["python", *options, *remaining] if options else remaining


@contextmanager
def on_path(wanted: bool) -> Iterator[None]:
    """Put commands `mpirun` and `mpiexec` that run fakempi on the PATH within the block, if wanted."""
    if not wanted:
        yield
        return
    from tempfile import TemporaryDirectory  # few runs need it

    before = os.environ.get("PATH", os.defpath)
    with TemporaryDirectory(prefix="fakempi-") as directory:
        write_commands(Path(directory))
        os.environ["PATH"] = directory + os.pathsep + before
        try:
            yield
        finally:
            os.environ["PATH"] = before


def write_commands(directory: Path) -> Path:
    """Write the commands `mpirun` and `mpiexec` to a directory; returns the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("mpirun", "mpiexec"):
        path = directory / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fakempi mpirun "$@"\n', encoding="utf-8")
        path.chmod(0o755)
    return directory


def permanent_directory() -> Path:
    """Return a directory with both commands for PATH; there is one per user and Python interpreter."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    import hashlib

    return write_commands(Path(cache, "fakempi", "mpirun-" + hashlib.sha256(sys.executable.encode()).hexdigest()[:12]))
