"""`%%mpi -n 8`: a cell of a notebook on virtual ranks. `%load_ext fakempi` brings it.

The cell is a script of its own: it sees nothing of the notebook, as ranks under mpiexec see nothing of one another, and
`from mpi4py import MPI` is the emulator. What it prints is printed. The value of the cell is the `Run`; with `--trace` a
notebook shows that as a page to look around in. `-o NAME` gives it a name.
"""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from fakempi.errors import RunError
from fakempi.options import algorithms, cost_model
from fakempi.script.program import program
from fakempi.world import Run, run


class _Parser(ArgumentParser):
    """Complains by raising: a notebook must not exit."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"%%mpi: {message}.")


def load(shell: Any) -> None:
    """Give an IPython shell the magic."""

    def mpi(line: str, cell: str) -> Run:
        """Run the cell on virtual ranks: %%mpi -n 8 [--trace] [--cost MODEL] [--algorithms LIST] [--seed S] [-o NAME]"""
        return run_cell(line, cell, shell)

    shell.register_magic_function(mpi, magic_kind="cell", magic_name="mpi")


def run_cell(line: str, cell: str, shell: Any) -> Run:
    """Run it; what became of it is also kept under the name that was asked for."""
    asked = _asked(line)
    with TemporaryDirectory() as folder:
        file = Path(folder, "cell.py")  # a file, so that reports and tracebacks have names and lines
        file.write_text(cell, encoding="utf-8")
        script = program([str(file)], label="[{rank}] " if asked.prefix else "", seed=asked.seed or 0)
        script.folder = os.getcwd()  # modules beside the notebook can be imported
        try:
            result = run(
                script,
                asked.ranks,
                cost=cost_model(asked.cost),
                algorithms=algorithms(asked.algorithms) if asked.algorithms else None,
                seed=asked.seed,
                trace=asked.trace,
            )
        except RunError as error:
            if error.trace is not None:
                shell.user_ns[asked.output or "_mpi"] = error.trace
            raise
    result.returns = [code or None for code in result.returns]  # exit codes, of which 0 says nothing
    if asked.output:
        shell.user_ns[asked.output] = result
    return result


def _asked(line: str) -> Namespace:
    parser = _Parser("%%mpi", add_help=False)
    parser.add_argument("-n", "-np", dest="ranks", type=int, required=True)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--cost", default="hockney")
    parser.add_argument("--algorithms")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--prefix", action="store_true")
    parser.add_argument("-o", dest="output", default="")
    return parser.parse_args(shlex.split(line))
