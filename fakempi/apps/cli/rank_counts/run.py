"""`fakempi run`: on one number of ranks, or with `-n 1..16` on several, smallest first."""

from __future__ import annotations

import gc
import io
import os
import shlex
import stat
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

from fakempi.apps.cli.rank_counts.across import AcrossNumbers, compares_across
from fakempi.apps.cli.rank_counts.across import check_options as check_comparison
from fakempi.apps.cli.rank_counts.parsing import check_single, numbers_of
from fakempi.apps.cli.rank_counts.refusal import may_refuse, refusal
from fakempi.apps.cli.rank_counts.results import FAILS, NumberResult, verdict
from fakempi.apps.cli.running import ScriptEnd, command_of, print_error, ranks_of, run_command, script_of
from fakempi.apps.cli.searches.recorded_input import RecordedInput, restored_input
from fakempi.core import options as parse
from fakempi.core.rank_numbers import are_several
from fakempi.errors.plurals import counted
from fakempi.processes.requests import wants_processes


def run_script(options: Namespace) -> int:
    """Run the script; returns the exit code."""
    command = command_of(options)
    check_comparison(options)
    gc.freeze()  # the collections below and at the end of Python then examine objects of the script, and not our modules
    if are_several(options.ranks):
        code = run_numbers(command, options)
    else:
        check_single(options)
        code = run_command(command, ranks_of(options), options).code
    gc.collect()  # `__del__` of objects of the script may print; what it prints at the end of Python may not be flushed
    return code


def run_numbers(command: list[str], options: Namespace) -> int:
    """Run the script on each number, under a heading, then print a line for each number; returns the exit code.

    It is the code of the smallest number that fails. If none fails, it is 0, or the program's own code if the program
    accepts none of the numbers.
    """
    _check_options(options)
    numbers = numbers_of(options)
    results: list[NumberResult] = []
    codes: dict[str, int] = {}  # kind of result -> exit code of the first number
    code, note = 0, ""
    with restored_input(sys.stdin):
        next_input = RewoundInput(sys.stdin, bool(options.processes or wants_processes()))
        across = None
        if compares_across(options):
            across = AcrossNumbers(partial(script_of, command, options), options, next_input)
        for nprocs in numbers:
            if not options.quiet:
                print_error(f"fakempi: {counted(nprocs, 'rank', ',')}")
            next_input()
            started = monotonic()
            end = run_command(command, nprocs, options)
            if isinstance(end.error, SyntaxError):
                return end.code
            if end.interrupted:
                code, note = end.code, f"interrupted on {counted(nprocs, 'rank', ',')}"
                break
            next_input()
            result, failed = _result(command, nprocs, end, options, monotonic() - started), end.code
            if result.kind == "clean" and across is not None and (difference := across.differs(nprocs)):
                result, failed = NumberResult(nprocs, "fails", f"fails: {difference}", monotonic() - started), FAILS
            results.append(result)
            codes.setdefault(result.kind, failed)
            if results[-1].kind == "fails" and not options.all_numbers:
                break
    width = len(str(numbers[-1]))
    lines = [result.line(width) for result in results] + [note] * bool(note) + [verdict(results, numbers, "passes")]
    failing = next((result.nprocs for result in results if result.kind == "fails"), 0)
    compared = across is not None and failing == across.differing
    if across is not None and compared:
        lines += across.report
    if failing:
        others = across.replay(failing) if across is not None and compared else ["-n", str(failing)]
        lines.append(f"replay: {shlex.join(_replay_command(options, others))}")
    print_error("\n  ".join([f"fakempi: {options.ranks} ranks", *filter(None, lines)]))
    return code or codes.get("fails", codes.get("clean", codes.get("refused", 0)))


def _check_options(options: Namespace) -> None:
    """Reject options for a single run."""
    given = {
        "--trace": options.trace, "--interactive": options.interactive, "--debug": options.debug,
        "--schedule": options.schedule, f"--findings {options.findings}": options.findings != "text",
    }  # fmt: skip
    for name, is_given in given.items():
        if is_given:
            raise parse.usage_error(f"{name} is for a single run, and -n {options.ranks} is for several: use one number.")


class RewoundInput:
    """Standard input for several runs in turn: each reads it from its beginning, unless it is a terminal.

    Ranks that are processes inherit the file itself, which is rewound; for them, a pipe has its text only once.
    """

    def __init__(self, source: Any, inherited: bool) -> None:
        self.recorded, self.source, self.inherited = RecordedInput(source or io.StringIO()), source, inherited

    def __call__(self) -> None:
        """Prepare standard input for a run."""
        source = self.source
        if source is None or (isinstance(source, io.TextIOBase) and source.isatty()):
            return
        if not self.inherited:
            sys.stdin = self.recorded.stream()
            return
        with suppress(OSError, ValueError, AttributeError):  # no file
            number = source.fileno()
            if stat.S_ISREG(os.fstat(number).st_mode):
                os.lseek(number, 0, os.SEEK_SET)


def _result(command: Sequence[str], nprocs: int, end: ScriptEnd, options: Namespace, seconds: float) -> NumberResult:
    """Return the result on one number of ranks; if it may be a refusal, the program runs once more."""
    if not end.code:
        return NumberResult(nprocs, "clean", "passes", seconds)
    if end.without_messages and (end.error is None or may_refuse(end.error)):
        message = refusal(script_of(command, options), nprocs, backend=options.backend, timeout=options.timeout)
        if message:
            return NumberResult(nprocs, "refused", f"refused by the program: {message}", seconds)
    reason = "" if end.error is None else f": {str(end.error).splitlines()[0].rstrip(':')}"
    return NumberResult(nprocs, "fails", f"fails with exit code {end.code}{reason}", seconds)


def _replay_command(options: Namespace, ranks: list[str]) -> list[str]:
    """Return the command line of the user with other numbers of ranks, and without the options for several."""
    words = list(options.argv)
    own = len(words) - len(options.module or options.code or options.command)  # the script's arguments are not ours
    kept, skip = [], False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif index >= own:
            kept.append(word)
        elif word in ("-n", "-np", "--min-ranks", "--compare", "--tolerance"):
            skip = True
        elif word.startswith("-n") and word.lstrip("-np=") == options.ranks:
            continue
        elif word != "--all" and not word.startswith(("--min-ranks=", "--compare=", "--tolerance=")):
            kept.append(word)
    return ["fakempi", *kept[:1], *ranks, *kept[1:]]
