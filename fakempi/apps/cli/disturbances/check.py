"""`fakempi check --skew --kill-each`: a line for each rank, and the report of the first failure."""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from contextlib import redirect_stderr
from time import monotonic

from rich.console import Console

from fakempi.apps.cli.console import print_command, print_text
from fakempi.apps.cli.disturbances.cases import DisturbedCase, deaths
from fakempi.apps.cli.disturbances.judging import Observed, claims_fault_tolerance, failure_of, observe
from fakempi.apps.cli.rank_counts.results import CLEAN, FAILS, SO_FAR
from fakempi.apps.cli.running import report_failure
from fakempi.apps.cli.searches.recorded_input import RecordedInput
from fakempi.errors import DeadlockError, RankError, RunTimeoutError
from fakempi.errors.plurals import counted
from fakempi.extensions.disturbance import Disturbance
from fakempi.isolation import Program


class DisturbedCheck:
    """The disturbed runs of a script on one number of ranks.

    Attributes
    ----------
    until : when no further run starts, None without `--seconds`
    runs : the number of runs so far
    left_out : the number of cases that did not run
    """

    def __init__(self, command: list[str], options: Namespace, out: Console, recorded: RecordedInput) -> None:
        self.command, self.options, self.out, self.recorded = command, options, out, recorded
        self.until = None if options.seconds is None else monotonic() + options.seconds
        self.runs = self.left_out = 0

    def run(self, nprocs: int) -> int:
        """Run all cases, and print a line for each rank; stop at the first failure. Return the exit code."""
        plain = self._observed(nprocs, Disturbance())
        if plain.problem():
            print_text(self.out, "fails without a disturbance:", "bold red")
            self._report(plain, nprocs, [])
            return FAILS
        tolerant = claims_fault_tolerance(plain.script.files)
        for cases in self._cases(plain, nprocs):
            code = self._run_cases(cases, plain, nprocs, tolerant)
            if code:
                return code
        return SO_FAR if self.left_out else CLEAN

    def _cases(self, plain: Observed, nprocs: int) -> list[list[DisturbedCase]]:
        """Return the cases of each line: a late rank, or the deaths of a rank within the budget."""
        found = [[DisturbedCase(rank)] for rank in range(nprocs)] if self.options.skew else []
        if self.options.kill_each:
            counts = {rank: count for rank, count in plain.disturbance.counts.items() if rank < nprocs}
            by_rank = deaths(counts, max(0, self.options.runs - self.runs - len(found)))
            self.left_out += sum(counts.values()) - sum(map(len, by_rank.values()))
            found += [cases for cases in by_rank.values() if cases]
        return found

    def _run_cases(self, cases: list[DisturbedCase], plain: Observed, nprocs: int, tolerant: bool) -> int:
        for done, case in enumerate(cases):
            if self.until is not None and monotonic() > self.until:
                self.left_out += len(cases) - done
                return 0
            observed = self._observed(nprocs, case.disturbance())
            problem = failure_of(case, observed, plain, tolerant)
            if problem:
                print_text(self.out, f"{case}: fails: {problem}", "bold red")
                self._report(observed, nprocs, case.words())
                return FAILS
        rank, total = cases[0].rank, plain.disturbance.counts.get(cases[0].rank, 0)
        if not cases[0].call:
            print_text(self.out, f"rank {rank} is late at every call: clean")
        else:
            result = "the other ranks survive" if tolerant else "the other ranks report it, or do not need the rank"
            print_text(self.out, f"rank {rank} dies at {len(cases):,} of its {counted(total, 'call', ',')}: {result}")
        return 0

    def _observed(self, nprocs: int, disturbance: Disturbance) -> Observed:
        options = self.options
        script = Program(self.command, share=options.share, private=options.private, mpi=options.mpi)
        self.runs += 1
        return observe(script, nprocs, options, self.recorded, disturbance)

    def _report(self, observed: Observed, nprocs: int, words: list[str]) -> None:
        """Print the failure as `fakempi run` reports it, and the command that repeats it."""
        if isinstance(observed.error, (RunTimeoutError, RankError, DeadlockError)):
            report = io.StringIO()
            with redirect_stderr(report):
                report_failure(observed.error, nprocs, observed.script, hint=False)
            print_text(self.out, report.getvalue().rstrip())
        else:
            print_text(self.out, observed.problem())
        cost = ["--cost", self.options.cost] if self.options.cost else []
        print_command(self.out, "replay: ", ["fakempi", "run", "-n", str(nprocs), *words, *cost, *self.command])


def check_disturbed(command: list[str], options: Namespace, numbers: list[int], out: Console) -> int:
    """Run all cases on each number of ranks, smallest first, to the first failure; return the exit code."""
    check = DisturbedCheck(command, options, out, RecordedInput(sys.stdin or io.StringIO()))
    codes = []
    for nprocs in numbers:
        if len(numbers) > 1:
            print_text(out, f"on {counted(nprocs, 'rank', ',')}:", "bold")
        codes.append(check.run(nprocs))
        if codes[-1] == FAILS:
            return FAILS
    if check.left_out:
        cases = counted(check.left_out, "case", ",")
        print_text(out, f"clean so far: {cases} did not run; use more --runs or --seconds", "bold")
    else:
        print_text(out, f"clean: {counted(check.runs, 'run', ',')}", "bold")
    return max(codes)
