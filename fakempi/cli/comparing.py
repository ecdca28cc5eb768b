"""`fakempi compare`: algorithms of one operation against each other, as tables and plots, as CSV and JSON."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from collectives import Case
from collectives.distributions import DISTRIBUTIONS
from collectives.trials.cases import PAIRED, UNEVEN, UNSIZED, counted_case
from collectives.trials.counts import read_counts
from fakempi import options as typed
from fakempi.cli.console import console
from fakempi.cli.listing import operation_of
from fakempi.cli.tables import ranks_of, show
from fakempi.cli.workers import workers
from fakempi.compare.machine import Machine, read_machine
from fakempi.compare.rows import rows, to_csv, to_json
from fakempi.compare.sweep import DEFAULT, Contender, Sweep, contenders, sweep
from fakempi.compare.timing import claims_hold

MESSAGE = 1e-5
"""Seconds that it takes to emulate a message, about; on paper it is a twentieth of that."""


class Part(NamedTuple):
    """What one table shows: every number of ranks with every size, or one's own counts."""

    ranks: list[tuple[int, int]]
    sizes: list[int]
    distribution: tuple[str, Any] | None = None
    counts: tuple[str, Any] | None = None


def compare(options: Namespace) -> int:
    """Print a table, and a plot if there is something to plot, for each distribution and each number of ranks."""
    kind, operation = operation_of(options.operation)
    if kind not in ("intra", "inter", "split"):
        what = {"making": "makes communicators and is", "files": "accesses files and is"}
        others = "is part of other algorithms and"
        raise typed.wrong(f"{options.operation} {what.get(kind, others)} not compared; fakempi list shows it.")
    _check_files(options)
    machine = read_machine(options.beside, operation, kind) if options.beside else None
    asked = typed.algorithm_names(options.algorithms or (",".join(machine.algorithms) if machine else ""))
    among = contenders(operation, kind, asked, typed.cost_model(options.cost).linear)
    if options.default and kind != "split":
        among.append(DEFAULT)
    if machine:
        machine = machine.renamed({_text(*each): contender.label for each, contender in zip(asked, among, strict=False)})
    parts = list(_counted(options, operation, kind) if options.counts else _sized(options, operation, kind, machine))
    out, made = console(), []
    with workers(options.jobs, *_work(options, parts, len(among))) as executor:
        for part in parts:
            how = {"cost": options.cost, "kind": kind, "measure": options.measure, "executor": executor}
            made.append(_swept(operation, part, among, how))
            if "-" not in (options.csv, options.json):
                if len(made) > 1:
                    out.print()
                show(out, made[-1], len(part.sizes) > 1, options, machine)
    for path, write in ((options.csv, to_csv), (options.json, to_json)):
        if path == "-":
            sys.stdout.write(write(rows(*made)))
        elif path:
            Path(path).write_text(write(rows(*made)), encoding="utf-8")
    return 0


def _check_files(options: Namespace) -> None:
    """Before anything is timed."""
    if options.csv == options.json == "-":
        raise typed.wrong("--csv - and --json - would be mixed up: send one of them to a file.")
    for path in (options.csv, options.json):
        if path and path != "-" and not Path(path).absolute().parent.is_dir():
            raise typed.wrong(f"{path} cannot be written: there is no folder {Path(path).parent}.")


def _text(what: Any, parameters: Mapping[str, Any]) -> str:
    """An algorithm as `python -m collectives.measure` calls it: a file by its path, where we say the algorithm's name."""
    words = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return f"{what}({words})" if words else str(what)


def _counted(options: Namespace, operation: str, kind: str) -> Iterator[Part]:
    """One's own counts."""
    if options.bytes or options.distribution:
        raise typed.wrong("--counts says how large blocks are: leave out --bytes and --distribution.")
    try:
        lists = read_counts(options.counts)
        case = counted_case(operation, lists, 2 if kind == "inter" else 1)
    except ValueError as error:
        raise typed.wrong(str(error)) from None
    if options.ranks and typed.groups(options.ranks) != [(case.p, case.q)]:
        raise typed.wrong(f"{options.counts} has counts for {ranks_of(case)} ranks, but -n says {options.ranks}.")
    yield Part([(case.p, case.q)], [0], counts=(Path(options.counts).name, lists))


def _sized(options: Namespace, operation: str, kind: str, machine: Machine | None) -> Iterator[Part]:
    """One table over sizes for each number of ranks, or, with one size, one over the numbers of ranks.

    What is not asked for is as it was on the machine, if there is one to be put beside.
    """
    ranks = typed.groups(options.ranks or "16") if options.ranks or not machine else machine.ranks
    sizes = typed.sizes(options.bytes or "1k") if options.bytes or not machine else machine.sizes
    if operation in UNSIZED:
        sizes = sizes[:1]
    for p, q in ranks:
        if kind == "inter" and not q:
            raise typed.wrong(f"{options.operation} is between two groups: say -n {p}+{p}, not -n {p}.")
        if kind != "inter" and q:
            raise typed.wrong(f"{operation} is within one group: say -n {p + q}, not -n {p}+{q}, or inter:{operation}.")
    for distribution in _distributions(operation, options.distribution, machine):
        if len(sizes) == 1:
            yield Part(ranks, sizes, distribution)
        else:
            yield from (Part([each], sizes, distribution) for each in ranks)


def _distributions(operation: str, asked: str | None, machine: Machine | None) -> Iterator[tuple[str, Any] | None]:
    if operation not in (*UNEVEN, *PAIRED):
        if asked:
            raise typed.wrong(f"{operation} has blocks of one size: --distribution is for {', '.join((*UNEVEN, *PAIRED))}.")
        yield None
        return
    names = asked.split(",") if asked else machine.distributions if machine else ["regular"]
    for name in list(DISTRIBUTIONS) if asked == "all" else [name.strip() for name in names]:
        if name not in DISTRIBUTIONS and machine and not asked:
            raise typed.wrong(f"{machine.path} has what was measured with {name}: add --counts {name}.")
        if name not in DISTRIBUTIONS:
            raise typed.unknown("distribution", name, [*DISTRIBUTIONS, "all"])
        yield name, DISTRIBUTIONS[name]


def _work(options: Namespace, parts: Sequence[Part], algorithms: int) -> tuple[int, float]:
    """How many figures there are to be found, and in how many seconds, about: with up to p messages a rank."""
    emulated = options.measure or not claims_hold(typed.cost_model(options.cost))
    columns = [sum(pair) for part in parts for pair in part.ranks for _ in part.sizes]
    seconds = sum(ranks**2 for ranks in columns) * MESSAGE * (1 if emulated else 0.05)
    return algorithms * len(columns), algorithms * seconds


def _swept(operation: str, part: Part, among: list[Contender], how: dict[str, Any]) -> Sweep:
    """A sweep, with a line on the terminal that shows what is timed and goes away."""
    screen = Console(stderr=True, highlight=False)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bar = progress.add_task("", total=len(among) * len(part.ranks) * len(part.sizes), completed=-1)

        def tell(label: str, case: Case) -> None:
            progress.update(bar, advance=1, description=f"{label}, {ranks_of(case)} ranks")

        return sweep(operation, *part[:2], among=among, distribution=part.distribution, counts=part.counts, tell=tell, **how)
