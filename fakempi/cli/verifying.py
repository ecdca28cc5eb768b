"""`fakempi verify`: an algorithm on many cases, and the smallest in which it does not do what it claims."""

from __future__ import annotations

import os
from argparse import Namespace

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from collectives import CATALOGUE, Algorithm, Case
from collectives.loading import load
from collectives.verification.counterexample import title
from collectives.verification.sweep import Verdict, examine
from fakempi import options as typed
from fakempi.cli.console import console
from fakempi.cli.listing import operation_of, typed_name
from fakempi.laboratory import Emulator

HOLDS, BROKEN = 0, 1


def verify(options: Namespace) -> int:
    """Print the verdict; returns the exit code."""
    algorithm = asked_for(options.algorithm)
    ranks = None if options.ranks is None else typed.count(options.ranks)
    if ranks is not None and ranks < (least := 2 if algorithm.kind == "inter" else 1):
        raise typed.wrong(f"--ranks {options.ranks}: there must be at least {least}.")
    verdict = _watched(algorithm, ranks, options.seconds)
    out = console()
    told: list[Case] = []
    for each in verdict.counterexamples:
        first, *others = str(each).splitlines()
        out.print(Text(first, "bold red"), soft_wrap=True)
        if each.case not in told:  # of one case one picture is enough
            out.print(Text("\n".join(others)), soft_wrap=True)
        told.append(each.case)
    out.print(Text(_conclusion(verdict), "bold"), soft_wrap=True)
    return BROKEN if verdict.counterexamples else HOLDS


def asked_for(text: str) -> Algorithm:
    """The algorithm that is meant: a file's, or one of the catalogue as operation/name."""
    if text.endswith(".py") or text.startswith((".", "~", os.sep)):
        return load(text)
    operation, slash, name = text.partition("/")
    kind, of = operation_of(operation)
    found = {each.name: each for each in CATALOGUE if (each.kind, each.operation) == (kind, of)}
    if not slash:
        raise typed.wrong(f"which {operation}? Say {', '.join(f'{operation}/{each}' for each in found)}, or a file.")
    if name not in found:
        raise typed.unknown(f"algorithm of {operation}", name, found)
    return found[name]


def _watched(algorithm: Algorithm, ranks: int | None, seconds: float) -> Verdict:
    """The verification, with a line on the terminal that shows how far it is and goes away."""
    screen = Console(stderr=True, highlight=False)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bar = progress.add_task("", total=None)

        def tell(tried: int, planned: int, case: Case) -> None:
            where = f"{case.p}+{case.q}" if case.q else str(case.p)
            progress.update(bar, completed=tried, total=planned, description=f"{typed_name(algorithm)}, {where} ranks")

        return examine(algorithm, Emulator(), ranks=ranks, seconds=seconds, tell=tell)


def _conclusion(verdict: Verdict) -> str:
    """One sentence, and what was left out."""
    name, tried = title(verdict.algorithm), f"{verdict.tried:,} case{'s' if verdict.tried > 1 else ''}"
    cases = f"{tried} on up to {verdict.ranks} rank{'s' if verdict.ranks > 1 else ''}"
    if verdict.counterexamples:
        wrong = len(verdict.counterexamples)
        things = "1 thing is" if wrong == 1 else f"{wrong} things are"
        return f"{name} does not do what it claims: {things} wrong, in {cases}."
    *some, last = verdict.compared
    refused = f", {verdict.refused:,} of them refused as claimed" if verdict.refused else ""
    left = verdict.planned - verdict.tried
    more = f" There was no time for {left:,} more." if left else ""
    return f"{name} does what it claims: {', '.join(some)} and {last} in {cases}{refused}.{more}"
