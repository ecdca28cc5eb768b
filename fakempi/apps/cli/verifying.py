"""`fakempi verify`: run an algorithm on many cases, and show the smallest counterexamples to its claims."""

from __future__ import annotations

import os
from argparse import Namespace
from concurrent.futures import Executor

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from collectives import CATALOGUE, Algorithm, Case
from collectives.loading import SCHEDULE_SUFFIXES, load
from collectives.verification.counterexample import title
from collectives.verification.plan.jobs import CASES
from collectives.verification.plan.message_limit import check_messages
from collectives.verification.sweep import Verdict, examine
from fakempi.apps.cli.comparison.progress import TerminalProgress
from fakempi.apps.cli.comparison.tables import ranks_text
from fakempi.apps.cli.console import console, error_console, print_text
from fakempi.apps.cli.listing import operation_of, typed_name
from fakempi.apps.cli.workers import workers
from fakempi.apps.emulator import Emulator
from fakempi.core import options as parse
from fakempi.errors.plurals import counted

HOLDS, BROKEN = 0, 1


def verify(options: Namespace) -> int:
    """Print the verdict; returns the exit code."""
    algorithm = find_algorithm(options.algorithm)
    ranks = None if options.ranks is None else parse.count(options.ranks)
    if ranks is not None and ranks < (least := 2 if algorithm.kind == "inter" else 1):
        raise parse.usage_error(f"--ranks {options.ranks}: there must be at least {counted(least, 'rank')}.")
    if ranks is not None:
        try:
            check_messages(algorithm, ranks)
        except ValueError as error:
            raise parse.usage_error(f"{error}.") from None
    with workers(options.jobs, CASES, 0) as executor:
        verdict = _examined(algorithm, ranks, options.seconds, executor)
    out = console()
    shown: list[Case] = []
    for counterexample in verdict.counterexamples:
        first, *others = str(counterexample).splitlines()
        print_text(out, first, "bold red")
        if counterexample.case not in shown:  # show the picture of a case once
            out.print(Text("\n".join(others)), soft_wrap=True)
        shown.append(counterexample.case)
    print_text(out, _conclusion(verdict), "bold")
    print_text(out, "\n".join(f"  {line}" for line in verdict.scope))
    return BROKEN if verdict.counterexamples else HOLDS


def find_algorithm(text: str) -> Algorithm:
    """Return the algorithm of a file, or the one of the catalogue that is named operation/name."""
    if text.endswith((".py", *SCHEDULE_SUFFIXES)) or text.startswith((".", "~", os.sep)):
        return load(text)
    operation, slash, name = text.partition("/")
    kind, operation_name = operation_of(operation)
    among = (each for each in CATALOGUE if (each.kind, each.operation) == (kind, operation_name))
    by_name = {algorithm.name: algorithm for algorithm in among}
    if not slash:
        choices = ", ".join(f"{operation}/{algorithm}" for algorithm in by_name)
        raise parse.usage_error(f"{operation} has several algorithms: use {choices}, or a file.")
    if name not in by_name:
        raise parse.unknown_name(f"algorithm of {operation}", name, by_name, f"fakempi list {operation}")
    return by_name[name]


def _examined(algorithm: Algorithm, ranks: int | None, seconds: float, executor: Executor | None) -> Verdict:
    """Run the verification, with a transient progress bar."""
    screen = error_console()
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with TerminalProgress(screen, *columns) as progress:
        bar = progress.add_task("", total=None)

        def show(tried: int, planned: int, case: Case) -> None:
            where = ranks_text(case)
            progress.update(bar, completed=tried, total=planned, description=f"{typed_name(algorithm)}, {where}")

        return examine(algorithm, Emulator(), ranks=ranks, seconds=seconds, progress=show, executor=executor)


def _conclusion(verdict: Verdict) -> str:
    """Return the verdict as a sentence, with the number of cases that were not tried."""
    name, tried = title(verdict.algorithm), counted(verdict.tried, "case", ",")
    cases = f"{tried} on up to {counted(verdict.ranks, 'rank')}"
    if verdict.counterexamples:
        return f"{name}: {counted(len(verdict.counterexamples), 'counterexample')} in {cases}."
    *some, last = verdict.compared
    rejected = f"; {verdict.rejected:,} of them rejected as claimed" if verdict.rejected else ""
    untried = verdict.planned - verdict.tried
    more = f" The time limit left out {counted(untried, 'more case', ',')}." if untried else ""
    return f"{name}: all claims hold ({', '.join(some)} and {last}) in {cases}{rejected}.{more}"
