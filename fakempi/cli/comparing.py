"""`fakempi compare`: algorithms of one operation against each other, as tables and plots."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from collectives import Case
from collectives.distributions import DISTRIBUTIONS
from fakempi import options as typed
from fakempi.cli.console import console
from fakempi.cli.listing import operation_of
from fakempi.compare.sweep import PAIRED, UNEVEN, Column, Contender, Sweep, contenders, sweep
from fakempi.view.comparison import comparison, comparison_plot
from fakempi.view.numbers import short_binary


def compare(options: Namespace) -> int:
    """Print a table, and a plot if there is something to plot, for each distribution and each number of ranks."""
    kind, operation = operation_of(options.operation)
    if kind not in ("intra", "inter", "split"):
        what = "makes communicators and is" if kind == "making" else "is part of other algorithms and"
        raise typed.wrong(f"{options.operation} {what} not compared; fakempi list shows it.")
    ranks, sizes = typed.groups(options.ranks), typed.sizes(options.bytes)
    if operation in ("barrier", "split"):
        sizes = sizes[:1]  # there is nothing that has one
    _check(options.operation, kind, ranks)
    cost = typed.cost_model(options.cost)
    among = contenders(operation, kind, typed.algorithm_names(options.algorithms or ""), cost.linear)
    out = console()
    first = True
    for distribution in _distributions(operation, options.distribution):
        for group, x_is_bytes in _groups(ranks, sizes):
            made = _swept(operation, group, sizes, cost=cost, among=among, distribution=distribution, kind=kind)
            if not first:
                out.print()
            first = False
            _show(out, made, x_is_bytes, options)
    return 0


def _swept(operation: str, ranks: list[tuple[int, int]], sizes: list[int], *, among: list[Contender], **how: Any) -> Sweep:
    """A sweep, with a line on the terminal that shows what is timed and goes away."""
    screen = Console(stderr=True, highlight=False)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bar = progress.add_task("", total=len(among) * len(ranks) * len(sizes), completed=-1)

        def tell(label: str, case: Case) -> None:
            progress.update(bar, advance=1, description=f"{label}, {_ranks(case)} ranks")

        return sweep(operation, ranks, sizes, among=among, tell=tell, **how)


def _check(operation: str, kind: str, ranks: Sequence[tuple[int, int]]) -> None:
    for p, q in ranks:
        if kind == "inter" and not q:
            raise typed.wrong(f"{operation} is between two groups: say -n {p}+{p}, not -n {p}.")
        if kind != "inter" and q:
            raise typed.wrong(f"{operation} is within one group: say -n {p + q}, not -n {p}+{q}, or inter:{operation}.")


def _distributions(operation: str, asked: str | None) -> Iterator[tuple[str, Any] | None]:
    if operation not in (*UNEVEN, *PAIRED):
        if asked:
            raise typed.wrong(f"{operation} has blocks of one size: --distribution is for {', '.join((*UNEVEN, *PAIRED))}.")
        yield None
        return
    for name in list(DISTRIBUTIONS) if asked == "all" else (asked or "regular").split(","):
        if name.strip() not in DISTRIBUTIONS:
            raise typed.unknown("distribution", name.strip(), [*DISTRIBUTIONS, "all"])
        yield name.strip(), DISTRIBUTIONS[name.strip()]


def _groups(ranks: list[tuple[int, int]], sizes: list[int]) -> Iterator[tuple[list[tuple[int, int]], bool]]:
    """One table over sizes for each number of ranks, or, with one size, one over the numbers of ranks."""
    if len(sizes) == 1:
        yield ranks, False
    else:
        yield from (([each], True) for each in ranks)


def _show(out: Any, made: Sweep, x_is_bytes: bool, options: Namespace) -> None:
    columns = made.columns
    times = {name: [column.times.get(name) for column in columns] for name in made.names}
    bound = [column.bound for column in columns]
    labels = [_bytes(column.nbytes) if x_is_bytes else _ranks(column) for column in columns]
    fixed = f"{_ranks(columns[0])} ranks" if x_is_bytes else _size(made)
    what = f"{made.distribution} blocks" if made.distribution else ""
    title = ", ".join(filter(None, (options.operation, fixed, what, options.cost)))
    out.print(comparison(title, labels, times, bound, head="bytes" if x_is_bytes else "ranks", width=out.width))
    for name in made.names:
        reasons = list(dict.fromkeys(column.refused[name] for column in columns if name in column.refused))
        if reasons:
            out.print(Text(f"  {name} - {'; '.join(reasons[:3])}{' ...' if len(reasons) > 3 else ''}", "dim"))
    out.print(Text("  * the fastest", "dim"))
    if options.plot:
        xs = [column.nbytes if x_is_bytes else column.p + column.q for column in columns]
        picture = comparison_plot(xs, times, bound, x_label="bytes" if x_is_bytes else "ranks", width=min(out.width, 100))
        if picture is not None:
            out.print()
            out.print(picture)


def _size(made: Sweep) -> str:
    """What has one size, or nothing."""
    if made.kind == "split":
        return "two colours, keys reversed"
    return "" if made.operation == "barrier" else _bytes(made.columns[0].nbytes)


def _ranks(of: Column | Case) -> str:
    return f"{of.p}+{of.q}" if of.q else str(of.p)


def _bytes(nbytes: int) -> str:
    if nbytes < 1024 or nbytes % 1024:
        return f"{nbytes:,} B"
    words = short_binary(nbytes)
    return f"{words[:-2]} {words[-2:]}B"
