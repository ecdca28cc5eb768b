"""`fakempi check -n 1..16`: search the schedules on several numbers of ranks, and report the smallest that fails."""

from __future__ import annotations

import io
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from concurrent.futures import Executor
from time import monotonic

from rich.console import Console

from fakempi.apps.cli.console import console, print_command, print_text
from fakempi.apps.cli.interrupts import terminable, verb_and_code
from fakempi.apps.cli.rank_counts.across import AcrossNumbers, compares_across
from fakempi.apps.cli.rank_counts.budget import Budget
from fakempi.apps.cli.rank_counts.parsing import numbers_of
from fakempi.apps.cli.rank_counts.refusal import may_refuse, refusal
from fakempi.apps.cli.rank_counts.results import FAILS, NumberResult, exit_code, verdict
from fakempi.apps.cli.searches.recorded_input import RecordedInput, restored_input
from fakempi.apps.cli.searches.report import check_files, report_failures, runs_so_far, write_figure
from fakempi.apps.cli.searches.search import explored
from fakempi.apps.cli.workers import workers
from fakempi.errors.plurals import counted
from fakempi.errors.tracebacks import all_shown
from fakempi.isolation import Program
from fakempi.modelcheck.search.exploration import Exploration


class NumberedCheck:
    """The searches on several numbers of ranks.

    Attributes
    ----------
    results : the result of each number so far
    so_far : the state of the current search
    pool : the worker processes of all searches
    across : the comparison of the results, with `--compare across`
    shown : options, script and exploration of the smallest number that fails, or of the last one
    """

    def __init__(self, command: list[str], options: Namespace, numbers: Sequence[int]) -> None:
        self.command, self.options, self.numbers = command, options, numbers
        self.budget = Budget(options.runs, options.seconds, len(numbers))
        self.recorded = RecordedInput(sys.stdin or io.StringIO())
        self.results: list[NumberResult] = []
        self.so_far = Exploration()
        self.current = numbers[0]
        self.pool: Executor | None = None
        self.across = AcrossNumbers(self._program, options, self._next_input) if compares_across(options) else None
        self.shown: tuple[Namespace, Program, Exploration] | None = None

    def run(self, out: Console) -> None:
        """Search on each number, and print its line; stop after the first that fails, except with `--all`.

        All searches use the same worker processes: to start one takes nearly a second.
        """
        with workers(self.options.jobs, self.options.runs, 0) as self.pool:
            self._run(out)

    def _run(self, out: Console) -> None:
        width = len(str(self.numbers[-1]))
        for nprocs in self.numbers:
            self.current, self.so_far = nprocs, Exploration()
            result = self._result(nprocs)
            self.results.append(result)
            style = "bold red" if result.kind == "fails" else ""
            print_text(out, result.line(width), style)
            if result.kind == "fails" and not self.options.all_numbers:
                break

    def _result(self, nprocs: int) -> NumberResult:
        share = self.budget.share()
        if share is None:
            return NumberResult(nprocs, "not run", f"not run: --seconds {self.options.seconds:g} are over")
        runs, seconds = share
        options = Namespace(**{**vars(self.options), "ranks": str(nprocs), "runs": runs, "seconds": seconds})
        script, started = self._program(), monotonic()
        label = f"{counted(nprocs, 'rank', ',')}: "
        exploration = explored(script, nprocs, options, self.so_far, self.recorded, label, self.pool)
        spent = exploration.runs + exploration.ended_early
        self.budget.spend(spent)
        message = self._refusal(nprocs, exploration)
        duration = monotonic() - started
        if message:
            return NumberResult(nprocs, "refused", f"refused by the program: {message}", duration)
        failing = bool(exploration.failures)
        if not any(result.kind == "fails" for result in self.results):
            self.shown = options, script, exploration
        text = f"fails: {exploration.verdict}" if failing else exploration.verdict
        if not exploration.exhausted and not (failing and options.first):  # which share of the budget has ended it
            if seconds is not None and duration >= seconds:
                text += f"; its part of --seconds was {seconds:.2g}"
            elif spent >= runs:
                text += f"; its part of --runs was {runs:,}"
        kind = "fails" if failing else "clean" if exploration.exhausted else "so far"
        if not failing and self.across is not None:
            with restored_input(sys.stdin):
                difference = self.across.differs(nprocs)
            if difference:
                kind, text = "fails", f"fails: {difference}"
            duration = monotonic() - started
        return NumberResult(nprocs, kind, text, duration)  # type: ignore[arg-type]  # one of the kinds

    def _next_input(self) -> None:
        sys.stdin = self.recorded.stream()

    def _program(self) -> Program:
        options = self.options
        return Program(self.command, share=options.share, private=options.private, mpi=options.mpi)

    def _refusal(self, nprocs: int, exploration: Exploration) -> str:
        """Return the message with which the program rejects this number; empty if it does not."""
        failures = exploration.failures
        if not failures or not all(may_refuse(failure.error) for failure in failures):
            return ""
        with restored_input(sys.stdin):
            sys.stdin = self.recorded.stream()
            return refusal(self._program(), nprocs, backend=self.options.backend, timeout=self.options.timeout)


def check_numbers(command: list[str], options: Namespace) -> int:
    """Print a line for each number, the report of the smallest that fails, and the verdict; returns the exit code."""
    numbers, width = numbers_of(options), check_files(options)
    check, out = NumberedCheck(command, options, numbers), console()
    try:
        with all_shown(options.full_traceback), terminable():
            check.run(out)
    except SyntaxError as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        return FAILS
    except KeyboardInterrupt as interrupt:
        return _report_interrupt(out, check, interrupt)
    failing = next((result.nprocs for result in check.results if result.kind == "fails"), 0)
    out.print()
    if check.shown is not None:
        of_number, script, exploration = check.shown
        if failing:
            print_text(out, f"on {counted(failing, 'rank', ',')}:", "bold")
            report_failures(out, exploration, script, failing, of_number)
            if check.across is not None and check.across.differing == failing:
                for line in check.across.report:
                    print_text(out, line)
                print_command(out, "replay: ", ["fakempi", "run", *check.across.replay(failing), *command])
        if options.figure:
            write_figure(exploration, of_number, width)
        for remark in exploration.remarks():
            print_text(out, remark)
    print_text(out, verdict(check.results, numbers), "bold red" if failing else "bold")
    return exit_code(check.results)


def _report_interrupt(out: Console, check: NumberedCheck, interrupt: KeyboardInterrupt) -> int:
    """Print how far the searches were; returns the exit code."""
    verb, code = verb_and_code(interrupt)
    print_text(out, f"{verb} on {counted(check.current, 'rank', ',')} after {runs_so_far(check.so_far)}")
    print_text(out, verdict(check.results, check.numbers))
    return code
