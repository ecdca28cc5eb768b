"""Conditions on a run if a rank is late, or dies.

A late rank: the run ends without an error, and records the results of the run without a disturbance (`fakempi.result`).

A dead rank, in a program that claims fault tolerance: all other ranks end without an error. A program claims it if its files
call one of ULFM's functions.

A dead rank, in any other program: the run ends with an error, which is how other ranks learn of the death. It may also end
without one if the output and results of the other ranks are those of the run without a disturbance, because
then they did not need the rank any more. A deadlock, and a run that goes on with other results, are failures.
"""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fakempi.apps.cli.disturbances.cases import DisturbedCase
from fakempi.apps.cli.searches.recorded_input import RecordedInput, restored_input
from fakempi.core.arguments import RunOptions
from fakempi.core.result_comparison import ResultParts, first_difference
from fakempi.core.world import run
from fakempi.errors import DeadlockError, RunError, RunTimeoutError
from fakempi.extensions.disturbance import Disturbance, disturbed
from fakempi.isolation import Program
from fakempi.modelcheck.search.rank_output import RankOutput, discarded_output
from fakempi.mpi.diagnostics.results import ProgramResults

ULFM = re.compile(r"\.\s*(?:Revoke|Is_revoked|Get_failed|Ack_failed|Agree|Iagree|Shrink|Ishrink)\b")


@dataclass(frozen=True)
class Observed:
    """A run: its script, its error, the exit codes of ranks, their output by rank, their results, and its disturbance."""

    script: Program
    error: RunError | None
    codes: dict[int, int]
    output: dict[int, list[str]]
    results: ResultParts
    disturbance: Disturbance

    def problem(self, ignored: Iterable[int] = ()) -> str:
        """Return how the run failed, in a line; empty if all ranks ended without an error, except ignored ones."""
        if self.error is not None:
            return (str(self.error).splitlines() or [type(self.error).__name__])[0].rstrip(":")
        failed = {rank: code for rank, code in self.codes.items() if code and rank not in ignored}
        return "".join(f"rank {rank} ended with exit code {code}" for rank, code in list(failed.items())[:1])


def observe(script: Program, nprocs: int, options: Namespace, recorded: RecordedInput, disturbance: Disturbance) -> Observed:
    """Run a script with a disturbance; its output is not shown."""
    output, error = RankOutput(), None
    names = ("cost", "backend", "algorithms", "timeout")
    given = RunOptions.from_command_line({name: getattr(options, name) for name in names})
    script.codes.clear()
    with discarded_output(), output.recorded(), restored_input(sys.stdin), disturbed(disturbance):
        sys.stdin = recorded.stream()
        try:
            run(script, nprocs, **given)
        except RunError as failure:
            error = failure
    universe = script.universe
    results = {} if universe is None else universe.state(ProgramResults).of_lowest_rank()
    lines = {rank: text for (stream, rank), text in output.lines().items() if stream == "stdout"}
    return Observed(script, error, dict(script.codes), lines, results, disturbance)


def claims_fault_tolerance(files: Iterable[str]) -> bool:
    """Return whether one of these files calls a function of ULFM."""
    texts = (Path(file).read_text(encoding="utf-8", errors="replace") for file in files if Path(file).is_file())
    return any(ULFM.search(text) for text in texts)


def failure_of(case: DisturbedCase, observed: Observed, undisturbed: Observed, tolerant: bool) -> str:
    """Return why a run fails in a case; empty if it does what it must."""
    if not case.call:
        return observed.problem() or _changed(observed, undisturbed, compares_output=False)
    dead = observed.disturbance.dead
    if tolerant:
        problem = observed.problem(dead)
        return f"the other ranks do not survive: {problem}" if problem else ""
    if isinstance(observed.error, (DeadlockError, RunTimeoutError)):
        return f"the other ranks do not end: {observed.problem()}"
    changed = "" if observed.problem(dead) else _changed(observed, undisturbed, compares_output=True)
    return f"the other ranks do not report it, and go on: {changed}" if changed else ""


def _changed(observed: Observed, undisturbed: Observed, compares_output: bool) -> str:
    """Return what has changed on the ranks that have not died; empty if nothing has."""
    dead, difference = observed.disturbance.dead, first_difference(undisturbed.results, observed.results)
    changed = f"result {difference.where} is {difference.right!r} instead of {difference.left!r}" if difference else ""
    if not compares_output or (changed and not dead):
        return "" if dead else changed
    for rank in sorted({*undisturbed.output, *observed.output} - dead):
        if observed.output.get(rank) != undisturbed.output.get(rank):
            return f"the output of rank {rank} differs"
    return changed
