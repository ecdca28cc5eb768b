"""`--compare across`: results that must not depend on the number of ranks.

Each number of ranks without a failure has one more run, whose results are kept: those that the program records with
`fakempi.result`, or the output of rank 0 if it records none. They are compared with those of the smallest number.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

from collectives import CATALOGUE
from fakempi.apps.cli.running import in_processes
from fakempi.core import options as parse
from fakempi.core.arguments import RunOptions
from fakempi.core.rank_numbers import are_several, on_ranks
from fakempi.core.result_comparison import MISSING, TOLERANCE, Difference, ResultParts, first_difference, of_output, value_at
from fakempi.core.world import run
from fakempi.errors import RunError
from fakempi.errors.plurals import counted
from fakempi.isolation import Program
from fakempi.mpi.diagnostics.results import ProgramResults

ACROSS = "across"
REDUCTIONS = ("allreduce", "reduce")
EPSILON = 2.0**-52
"""The unit of rounding of 64-bit numbers. In one order or another, n terms of one sign differ by less than n units."""

MANY_TERMS = 1e6
"""If a sum needs more terms than this to differ so much, the report does not suggest rounding."""


def check_options(options: Namespace) -> None:
    """Reject a comparison of one number of ranks, and options that it does not support."""
    if not compares_across(options):
        if options.tolerance is not None:
            raise parse.usage_error("--tolerance has no effect without --compare across.")
        return
    if not are_several(options.ranks):
        raise parse.usage_error(f"--compare across needs several numbers of ranks, such as -n 1..8, not -n {options.ranks}.")
    if hasattr(options, "processes") and in_processes(options):  # of `fakempi run`
        raise parse.usage_error(
            "--compare across needs ranks in one process: remove --processes, --debug and --hash-seeds."
        )


def compares_across(options: Namespace) -> bool:
    """Return whether the results of the numbers of ranks are compared."""
    return ACROSS in (options.compare or "").split(",")


class AcrossNumbers:
    """The comparison of the results on several numbers of ranks.

    Attributes
    ----------
    first : the smallest number of ranks with results, and these results
    report : the lines of the first difference
    problem : why the latest run that has failed did so
    differing : the number of ranks of this difference; 0 if there is none
    """

    def __init__(self, program: Callable[[], Program], options: Namespace, next_input: Callable[[], None]) -> None:
        self.program, self.options, self.next_input = program, options, next_input
        self.tolerance = TOLERANCE if options.tolerance is None else options.tolerance
        self.first: tuple[int, ResultParts] | None = None
        self.report: list[str] = []
        self.differing = 0
        self.problem = ""

    def differs(self, nprocs: int) -> str:
        """Run the program on this number of ranks; return how its results differ from the first ones, or an empty text."""
        parts = self._results(nprocs)
        if parts is None:
            return f"the run for the comparison fails, after others that did not: {self.problem}"
        if self.first is None:
            self.first = nprocs, parts
            return ""
        number, others = self.first
        difference = first_difference(others, parts, self.tolerance)
        if difference is None:
            return ""
        if not self.report:
            self.differing = nprocs
            self.report = [*_lines(difference, number, nprocs), *self._orders(difference, nprocs)]
        return f"its results differ from those on {on_ranks([number])}: {difference.where}"

    def _results(self, nprocs: int, operation: str = "", algorithm: str = "") -> ResultParts | None:
        """Return the results of a run; None if it fails. A given algorithm must be one that the run uses."""
        from fakempi.modelcheck.search.rank_output import RankOutput, discarded_output  # few runs need it

        script, output = self.program(), RankOutput()
        given = {"cost": self.options.cost, "backend": self.options.backend, "timeout": self.options.timeout}
        chosen = {"algorithms": f"{operation}={algorithm}", "trace": True} if operation else {}
        try:
            with discarded_output(), output.recorded():
                self.next_input()
                options = {"algorithms": self.options.algorithms, **chosen}
                trace = run(script, nprocs, **RunOptions.from_command_line({**given, **options})).trace
        except RunError as error:
            self.problem = str(error).splitlines()[0].rstrip(":")
            return None
        if any(script.codes.values()):
            self.problem = f"exit code {max(script.codes.values())}"
            return None
        if trace is not None and (operation, algorithm) not in {(region.name, region.algorithm) for region in trace.regions}:
            return None
        recorded: ResultParts = script.universe.state(ProgramResults).of_lowest_rank()
        return recorded or of_output("\n".join(output.lines().get(("stdout", 0), [])))

    def _orders(self, difference: Difference, nprocs: int) -> list[str]:
        """Return a line on runs with other orders of the operands of reductions, for a difference that may be rounding."""
        if not difference.is_inexact:
            return []
        values = []
        for one in CATALOGUE:
            if one.kind == "intra" and one.operation in REDUCTIONS:
                parts = self._results(nprocs, one.operation, one.name)
                values += [] if parts is None else [value_at(parts, difference)]
        changes = [abs(value - difference.right) for value in values if value is not None]
        return [f"rounding: {_explanation(difference, on_ranks([nprocs]), changes)}"]

    def replay(self, nprocs: int) -> list[str]:
        """Return the options that compare this number of ranks with the first one."""
        assert self.first is not None
        tolerance = [] if self.options.tolerance is None else ["--tolerance", f"{self.options.tolerance:g}"]
        return ["-n", f"{self.first[0]},{nprocs}", "--compare", ACROSS, *tolerance]


def _explanation(difference: Difference, where: str, changes: Sequence[float]) -> str:
    """Return what runs with other orders of operands show, and how many terms a sum needs to differ so much."""
    size, largest = difference.size or 0.0, max(abs(difference.left), abs(difference.right))
    tried = f"{counted(len(changes), 'run')} on {where} with other algorithms for reductions"
    if changes and max(changes) >= size:
        return f"{tried}: the value changes by up to {max(changes):.3g}, so the order of operands explains the difference"
    result = f"the value changes by at most {max(changes, default=0.0):.3g}"
    shown = f"{tried}: {result}, so the order across ranks does not explain it" if changes else "no reduction to reorder"
    terms = size / (EPSILON * largest)
    if terms > MANY_TERMS:
        return f"{shown}; a sum within a rank would need {terms:.1g} terms to differ by this much, unless terms cancel"
    enough = f"a sum of {max(2, ceil(terms)):,} or more terms can differ by this much"
    return f"{shown}; the order within ranks was not tried: {enough}"


def _lines(difference: Difference, number: int, nprocs: int) -> list[str]:
    """Return the lines of a report on a difference."""
    left, right = _text(difference.left), _text(difference.right)
    lines = [f"{difference.where}: {left} on {on_ranks([number])}, {right} on {on_ranks([nprocs])}"]
    if difference.size is not None:
        largest = max(abs(difference.left), abs(difference.right))
        lines.append(f"difference: {difference.size:.6g}, relative {difference.size / largest:.3g}")
    if (difference.left, difference.right) == (number, nprocs):
        lines.append("the values are the numbers of ranks: if they are meant to be, record results with fakempi.result")
    return lines


def _text(value: Any) -> str:
    text = value if value == MISSING else repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
