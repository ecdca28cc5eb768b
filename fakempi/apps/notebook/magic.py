"""The magic `%%mpi`: a cell is a separate script, which does not see the notebook's variables, as under mpiexec.

`from mpi4py import MPI` is the emulator. The output of ranks is printed, then the findings. The value of the cell is the
`Run`, whose `returns` are the values of the last expression on each rank; with `--trace` the notebook shows an interactive
page, and with `--check` the value is the `Exploration` of all schedules. `-o NAME` assigns the value to a variable. `--push`
and `--pull` copy variables to and from ranks. With `--keep` every rank continues with the variables of the last cell with
`--keep`; communicators other than COMM_WORLD and COMM_SELF end with their cell.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from tempfile import TemporaryDirectory
from typing import Any

from fakempi.apps.notebook.cell import CheckedCell, program_of, pull, results
from fakempi.apps.notebook.line import USAGE, parse_line
from fakempi.apps.notebook.reports import lines_of, table_of
from fakempi.core.arguments import RunOptions
from fakempi.core.reports.findings import headline, lines
from fakempi.core.reports.suppressions import unused_text
from fakempi.core.run_result import Run
from fakempi.core.world import run
from fakempi.errors import RunError
from fakempi.isolation.program import Program
from fakempi.modelcheck.search.exploration import Exploration
from fakempi.modelcheck.search.explore import explore_with
from fakempi.modelcheck.search.options import SearchOptions
from fakempi.modelcheck.search.rank_output import discarded_output


class CellError(Exception):
    """A cell failed. IPython shows these lines instead of a traceback through IPython and fakempi."""

    def __init__(self, lines: list[str], error: Exception) -> None:
        super().__init__("\n".join(lines))
        self.lines, self.error = lines, error

    def _render_traceback_(self) -> list[str]:
        return self.lines


def load(shell: Any) -> None:
    """Register the magic with an IPython shell."""

    def mpi(line: str, cell: str) -> Any:
        try:
            return run_cell(line, cell, shell)
        except (RunError, ValueError, TypeError, SyntaxError) as error:
            if isinstance(error, RunError) and hasattr(shell, "kernel"):  # a notebook, not a terminal
                _display(table_of(error, cell))
            raise CellError(lines_of(error, cell, shell.user_ns), error) from None

    mpi.__doc__ = f"Run the cell on virtual ranks: {USAGE}"
    shell.register_magic_function(mpi, magic_kind="cell", magic_name="mpi")


def run_cell(line: str, cell: str, shell: Any) -> Any:
    """Run a cell, and assign the result, a `Run` or an `Exploration`, to the requested variables."""
    options = parse_line(line)
    with TemporaryDirectory() as directory:
        script = program_of(cell, directory, options, shell)
        found = (
            _checked(CheckedCell(script, options, shell.user_ns), options) if options.check else _run(script, options, shell)
        )
    if options.output:
        shell.user_ns[options.output] = found
    return found


def _run(script: Program, options: Namespace, shell: Any) -> Run[Any]:
    """Run the cell once, and print its findings."""
    try:
        result: Run[Any] = run(script, options.ranks, **RunOptions.from_command_line(vars(options)))
    except RunError as error:
        if error.trace is not None:
            shell.user_ns[options.output or "_mpi"] = error.trace
        raise
    if result.findings:
        kinds = {finding.kind for finding in result.findings}
        hint = f"for details, run: !fakempi explain {kinds.pop() if len(kinds) == 1 else 'KIND'}"
        sys.stderr.write("\n  ".join([f"{headline(result.findings)} ({hint})", *lines(result.findings)]) + "\n")
    if text := unused_text(result.unused_suppressions):
        sys.stderr.write(f"{text}\n")
    shell.user_ns.update(pull(options.pull, script, options.ranks))
    result.returns = results(script, result.returns)
    return result


def _checked(script: CheckedCell, options: Namespace) -> Exploration:
    """Run the cell in all schedules, without the output of ranks; raise the first failure."""
    of_runs = RunOptions.from_command_line(vars(options), strict=True, seed=None)
    with discarded_output():
        found = explore_with(SearchOptions(stop="first"), of_runs, script, options.ranks)
    if found.failures:
        failure = found.failures[0]
        sys.stderr.write(f"schedule {failure.schedule} fails{': ' * bool(failure.why)}{failure.why}; ")
        sys.stderr.write(f"to run it, replace --check by --schedule {failure.schedule}\n")
        raise failure.error
    sys.stdout.write(f"{found.verdict}\n")
    return found


def _display(html: str) -> None:
    import IPython.display as notebook  # installed, because a kernel runs

    if html:
        notebook.display(notebook.HTML(html))  # type: ignore[no-untyped-call]  # IPython has no annotations
