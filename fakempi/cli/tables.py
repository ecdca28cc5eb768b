"""How a comparison is shown: a table, what its marks mean, who refused and who differs, a plot."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from collectives import Case
from collectives.trials.cases import UNSIZED
from fakempi.compare.machine import Machine
from fakempi.compare.sweep import Column, Sweep
from fakempi.compare.timing import Figure
from fakempi.view.comparison import CLAIMED, DIFFER, MEASURED, beside, comparison, comparison_plot, legend
from fakempi.view.numbers import apart, short_binary

MOST = 3
"""Lines on one algorithm below a table."""


def show(out: Console, made: Sweep, x_is_bytes: bool, options: Namespace, machine: Machine | None) -> None:
    """Print all of it."""
    columns = made.columns
    head = "bytes" if x_is_bytes else "ranks"
    labels = [_bytes(column.nbytes) if x_is_bytes else ranks_of(column) for column in columns]
    lines = {name: [column.times.get(name) for column in columns] for name in made.names}
    marks = {name: [_mark(column.figures[name]) for column in columns] for name in made.names}
    bound = [column.bound for column in columns]
    title = _title(made, x_is_bytes, options)
    if machine is None:
        out.print(comparison(title, labels, lines, marks, bound, head=head, width=out.width))
    else:
        there = {name: [_there(machine, made, name, column) for column in columns] for name in made.names}
        out.print(beside(f"{title}, beside {machine.path}", labels, lines, marks, there, head=head, width=out.width))
        out.print(Text(_agreement(columns, there), "cyan"))
        lines = {**lines, **{f"{name}, measured": row for name, row in there.items()}}
    for remark in _remarks(made, x_is_bytes):
        out.print(remark)
    out.print(legend({mark for row in marks.values() for mark in row}))
    if options.plot:
        xs = [column.nbytes if x_is_bytes else column.p + column.q for column in columns]
        picture = comparison_plot(xs, lines, bound, x_label=head, width=min(out.width, 100))
        if picture is not None:
            out.print()
            out.print(picture)


def _title(made: Sweep, x_is_bytes: bool, options: Namespace) -> str:
    first = made.columns[0]
    fixed = f"{ranks_of(first)} ranks" if x_is_bytes else _bytes(first.nbytes)
    if made.operation in UNSIZED:
        fixed = "two colours, keys reversed" if made.operation == "split" else ""
    blocks = f"{made.distribution} blocks" if made.distribution else ""
    if options.counts:
        fixed, blocks = f"blocks of {made.distribution}", f"{_bytes(first.nbytes)} on average"
    return ", ".join(filter(None, (options.operation, fixed, blocks, options.cost)))


def _mark(figure: Figure) -> str:
    return DIFFER if figure.differ else {"claimed": CLAIMED, "measured": MEASURED}.get(figure.how, " ")


def _there(machine: Machine, made: Sweep, name: str, column: Column) -> float | None:
    return machine.seconds.get((name, column.p, column.q, column.nbytes, made.distribution))


def _agreement(columns: list[Column], there: dict[str, list[float | None]]) -> str:
    """How far model and machine agree: by how much the numbers differ, and whether the winners do."""
    ratios: list[float] = []
    winners: list[bool] = []
    for index, column in enumerate(columns):
        times = {name: row[index] for name, row in there.items() if row[index] and column.times.get(name)}
        ratios += [time / float(column.times[name]) for name, time in times.items() if time]
        if len(times) > 1:
            fastest = min(times, key=lambda name: times[name] or 0)
            winners.append(column.times[fastest] <= min(column.times[name] for name in times) * (1 + 1e-12))
    if not ratios:
        return "  none of this was measured there"
    words = f"  ratio: measured / modelled, from {min(ratios):,.3g} to {max(ratios):,.3g}"
    return f"{words}\n  the same is the fastest in {sum(winners)} of {len(winners)} columns" if winners else words


def _remarks(made: Sweep, x_is_bytes: bool) -> Iterator[Text]:
    """Below the table: why some refuse, and where what is claimed and what is measured are two things."""
    columns = made.columns
    yield from _choices(made, x_is_bytes)
    for name in made.names:
        reasons = list(dict.fromkeys(column.refused[name] for column in columns if name in column.refused))
        if reasons:
            yield Text(f"  {name} - {'; '.join(reasons[:MOST])}{' ...' if len(reasons) > MOST else ''}", "dim")
    for name in made.names:
        wrong = [column for column in columns if column.figures[name].differ]
        for column in wrong[:MOST]:
            claimed, measured = apart(column.figures[name].claimed, column.figures[name].measured)
            where = _bytes(column.nbytes) if x_is_bytes else f"{ranks_of(column)} ranks"
            yield Text(f"  {name} {DIFFER} claimed and measured differ at {where}: {claimed} and {measured}", "red")
        if len(wrong) > MOST:
            yield Text(f"  {name} {DIFFER} they differ in {len(wrong) - MOST} more columns", "red")
    if {figure.differ for column in columns for figure in column.figures.values()} in ({False}, {False, None}):
        yield Text("  claimed and measured agree, wherever something is claimed", "dim")


def _choices(made: Sweep, x_is_bytes: bool) -> Iterator[Text]:
    """What the default is, and where, if that is not the same in all columns."""
    for name in made.names:
        places: dict[str, list[str]] = {}
        for column in made.columns:
            if taken := column.figures[name].taken:
                places.setdefault(taken, []).append(_bytes(column.nbytes) if x_is_bytes else ranks_of(column))
        one = len(places) == 1
        words = [taken if one else f"{taken} ({', '.join(where)})" for taken, where in places.items()]
        if words:
            yield Text(f"  {name}: {', '.join(words)}", "cyan")
    parts = {part for name in made.names for column in made.columns for part in column.figures[name].parts}
    if parts:
        yield Text(f"  parts ({', '.join(sorted(parts))}) are what the default table takes there", "dim")


def ranks_of(thing: Column | Case) -> str:
    """`8`, or `6+2` for two groups."""
    return f"{thing.p}+{thing.q}" if thing.q else str(thing.p)


def _bytes(nbytes: int) -> str:
    if nbytes < 1024 or nbytes % 1024:
        return f"{nbytes:,} B"
    words = short_binary(nbytes)
    return f"{words[:-2]} {words[-2:]}B"
