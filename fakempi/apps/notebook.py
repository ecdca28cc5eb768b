"""The cell magic `%%mpi -n 8`: run a notebook cell on virtual ranks. `%load_ext fakempi` registers it.

The cell is a separate script: it does not see the notebook's variables, as processes under mpiexec do not, and
`from mpi4py import MPI` is the emulator. Its output is printed. The value of the cell is the `Run`; with `--trace` the
notebook shows an interactive page. `-o NAME` assigns the `Run` to a variable. With `--keep` every rank continues with the
variables of the last cell with `--keep`; communicators other than COMM_WORLD and COMM_SELF end with their cell.
"""

from __future__ import annotations

import linecache
import os
import shlex
import sys
import traceback
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from fakempi.core.arguments import RunOptions
from fakempi.core.reports.explain import explained_by
from fakempi.core.reports.suppressions import unused_text
from fakempi.core.run_result import Run
from fakempi.core.world import run
from fakempi.errors import RankError, RunError
from fakempi.errors.plurals import counted
from fakempi.isolation.program import Main, program


class _Parser(ArgumentParser):
    """A parser that raises an exception: a notebook must not exit."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"%%mpi: {message}.")


USAGE = (
    "%%mpi -n RANKS [--trace] [--keep] [--reset] [--cost MODEL] [--algorithms LIST] [--seed S] [--prefix] [--ignore KIND] "
    "[-o NAME]"
)
STATES: WeakKeyDictionary[Any, tuple[int, dict[int, Main]]] = WeakKeyDictionary()
"""IPython shell -> number of ranks of cells with --keep, and the modules `__main__` of the ranks that have started."""


class CellError(Exception):
    """A cell failed. IPython shows these lines instead of a traceback through IPython and fakempi."""

    def __init__(self, lines: list[str], error: Exception) -> None:
        super().__init__("\n".join(lines))
        self.lines, self.error = lines, error

    def _render_traceback_(self) -> list[str]:
        return self.lines


def load(shell: Any) -> None:
    """Register the magic with an IPython shell."""

    def mpi(line: str, cell: str) -> Run[int | None]:
        """Run the cell on virtual ranks: %%mpi -n 8 [--trace] [--keep] [--cost MODEL] [--algorithms LIST] [-o NAME]"""
        try:
            return run_cell(line, cell, shell)
        except (RunError, ValueError, TypeError, SyntaxError) as error:
            raise CellError([*_lines(error, cell), *_how_to_explain(error)], error) from None

    mpi.__doc__ = f"Run the cell on virtual ranks: {USAGE}"

    shell.register_magic_function(mpi, magic_kind="cell", magic_name="mpi")


def _how_to_explain(error: Exception) -> list[str]:
    command = explained_by(error) if isinstance(error, RunError) else ""
    return [f"for details, run: !{command}"] if command else []


def _lines(error: Exception, cell: str) -> list[str]:
    """Return the report of a deadlock, the lines of the program of a failed rank, or a usage error and the usage."""
    if isinstance(error, SyntaxError):
        return "".join(traceback.format_exception_only(error)).splitlines()
    if not isinstance(error, RankError):
        return str(error).splitlines() if isinstance(error, RunError) else [str(error), f"usage: {USAGE}"]
    cause = error.exception
    code = cell.splitlines()
    lines = [f"{error.name} failed with {''.join(traceback.format_exception_only(cause)).strip()}"]
    ours = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
    for frame in traceback.extract_tb(cause.__traceback__):
        if os.path.basename(frame.filename) == "cell.py" and 0 < (frame.lineno or 0) <= len(code):
            lines.append(f"  cell.py:{frame.lineno}: {code[(frame.lineno or 0) - 1].strip()}")
        elif not os.path.abspath(frame.filename).startswith(ours) and not frame.filename.startswith("<"):
            code_there = linecache.getline(frame.filename, frame.lineno or 0).strip()
            lines.append(f"  {os.path.basename(frame.filename)}:{frame.lineno}: {code_there}")
    if isinstance(cause, NameError) and cause.name in ("MPI", "comm"):
        start = "from mpi4py import MPI; comm = MPI.COMM_WORLD"
        lines.append(f"a cell is a separate program: start it with {start}, or use --keep")
    return [*lines, *error.other_failures()]


def run_cell(line: str, cell: str, shell: Any) -> Run[int | None]:
    """Run a cell, and assign the result to the requested variable."""
    options = _parse_line(line)
    with TemporaryDirectory() as directory:
        file = Path(directory, "cell.py")  # a file, so that reports and tracebacks have names and lines
        file.write_text(cell, encoding="utf-8")
        script = program([str(file)], label="[{rank}] " if options.prefix else "", seed=options.seed or 0)
        script.directory = os.getcwd()  # modules next to the notebook can be imported
        script.mains = _state(options, shell)
        kinds = [kind.strip() for kinds in options.ignore for kind in kinds.split(",")]
        try:
            result: Run[int | None] = run(script, options.ranks, **RunOptions.from_command_line(vars(options), ignore=kinds))
            if text := unused_text(result.unused_suppressions):
                sys.stderr.write(f"{text}\n")
        except RunError as error:
            if error.trace is not None:
                shell.user_ns[options.output or "_mpi"] = error.trace
            raise
    result.returns = [code or None for code in result.returns]  # exit codes; 0 carries no information
    if options.output:
        shell.user_ns[options.output] = result
    return result


def _state(options: Namespace, shell: Any) -> dict[int, Main] | None:
    """Return the modules of ranks that the cell continues; None for a cell without --keep, which is independent."""
    if options.reset:
        STATES.pop(shell, None)
    if not options.keep:
        return None
    ranks, kept = STATES.setdefault(shell, (options.ranks, {}))
    if ranks != options.ranks:
        raise ValueError(
            f"%%mpi --keep: earlier cells ran on {counted(ranks, 'rank')}, but -n is {options.ranks}: "
            f"use -n {ranks}, or --reset to discard their variables."
        )
    return kept


def _parse_line(line: str) -> Namespace:
    words = shlex.split(line)
    if {"-h", "--help"} & {*words}:
        raise ValueError("%%mpi: run this cell, a program that starts with `from mpi4py import MPI`, on virtual ranks.")
    parser = _Parser("%%mpi", add_help=False)
    parser.add_argument("-n", "-np", dest="ranks", type=int, required=True)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--cost")
    parser.add_argument("--algorithms")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--prefix", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--reset", action="store_true")
    parser.add_argument("--ignore", action="append", default=[])
    parser.add_argument("-o", dest="output", default="")
    return parser.parse_args(words)
