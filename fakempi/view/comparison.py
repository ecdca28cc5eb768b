"""Algorithms against each other: tables with the best of each column marked, and a plot of the same figures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from fakempi.view.numbers import seconds
from fakempi.view.plot import plot

BEST = "*"
CLAIMED = "◦"
MEASURED = "•"
DIFFER = "≠"
BOUND = "lower bound"
RATIO = "ratio"
GAP = 2
"""Blanks between two columns."""

Times = Mapping[str, Sequence[float | None]]
Marks = Mapping[str, Sequence[str]]

_LEGEND = {
    BEST: "the fastest",
    CLAIMED: "claimed, on paper",
    MEASURED: "measured, emulated",
    DIFFER: "measured; claimed and measured differ",
}
_STYLES = {CLAIMED: "dim", MEASURED: "dim", DIFFER: "bold red"}


class _Row(NamedTuple):
    """A line of a table; `apart` if there is a gap above it."""

    name: Text
    cells: list[Text]
    apart: bool = False


def comparison(
    title: str,
    labels: Sequence[str],
    times: Times,
    marks: Marks,
    bound: Sequence[float | None],
    *,
    head: str = "",
    width: int = 80,
) -> Group:
    """Times by algorithm and column; None where an algorithm does not serve. The best are marked, the bound comes last.

    `marks` has a character for each time, which says where it comes from. Columns that do not fit side by side come in
    further tables below.
    """
    rows = [_Row(Text(name), cells) for name, cells in _cells(times, marks).items()]
    if any(each is not None for each in bound):
        rows.append(_Row(Text(BOUND, "dim"), [_cell(each, " ") for each in bound], apart=True))
    return _tables(title, head, labels, rows, width)


def beside(
    title: str, labels: Sequence[str], modelled: Times, marks: Marks, machine: Times, *, head: str = "", width: int = 80
) -> Group:
    """What the model says of each algorithm, what a machine says, and how many times as long it takes there."""
    above, below = _cells(modelled, marks), _cells(machine, {name: [" "] * len(labels) for name in machine})
    rows, wide = [], max(map(cell_len, modelled))
    for index, (name, model) in enumerate(modelled.items()):
        ratios = [None if not a or b is None else b / float(a) for a, b in zip(model, machine[name], strict=True)]
        cells = [Text("-   ", "dim") if each is None else Text(f"{each:,.3g} ×   ", "cyan") for each in ratios]
        rows.append(_Row(Text(f"{name:<{wide}}  modelled"), above[name], apart=index > 0))
        rows.append(_Row(Text(f"{'':<{wide}}  measured"), below[name]))
        rows.append(_Row(Text(f"{'':<{wide}}  {RATIO}", "cyan"), cells))
    return _tables(title, head, labels, rows, width)


def legend(marks: Collection[str]) -> Text:
    """What the marks mean that occur."""
    text = Text(" ", "dim")
    for mark in (BEST, *(mark for mark in (CLAIMED, MEASURED, DIFFER) if mark in marks)):
        text.append(f" {mark} {_LEGEND[mark]}  ", _STYLES.get(mark, ""))
    text.rstrip()
    return text


def _cells(times: Times, marks: Marks) -> dict[str, list[Text]]:
    least = [min((time for time in column if time is not None), default=0) for column in zip(*times.values(), strict=True)]
    limits = [time * (1 + 1e-12) for time in least]  # as far as floats can tell
    return {name: [_cell(*each) for each in zip(row, marks[name], limits, strict=True)] for name, row in times.items()}


def _cell(time: float | None, mark: str, limit: float = -1) -> Text:
    if time is None:
        return Text("-   ", "dim")
    style = "bold green" if time <= limit else ""
    return Text.assemble((f"{seconds(time)} ", style), (mark, _STYLES.get(mark, "")), (BEST if style else " ", style))


def _tables(title: str, head: str, labels: Sequence[str], rows: Sequence[_Row], width: int) -> Group:
    heads = [Text(f"{label}   ") for label in labels]  # the blanks are where cells have a blank and their marks
    columns = [[heads[i], *(row.cells[i] for row in rows)] for i in range(len(labels))]
    for cells in columns:
        wide = max(cell.cell_len for cell in cells)
        for cell in cells:
            cell.pad_left(wide - cell.cell_len)  # rich, aligning to the right, would shift those without a mark
    names = max(cell_len(head), *(row.name.cell_len for row in rows))
    parts: list[Table | Text] = []
    for span in _spans([cells[0].cell_len for cells in columns], width - names):
        parts.append(Text() if parts else Text(title, "bold"))
        chosen = [row._replace(cells=[row.cells[i] for i in span]) for row in rows]
        parts.append(_table(head, [heads[i] for i in span], chosen))
    return Group(*parts)


def _spans(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Runs of columns that fit side by side."""
    span: list[int] = []
    used = 0
    for i, wide in enumerate(widths):
        if span and used + wide + GAP > room:
            yield span
            span, used = [], 0
        span.append(i)
        used += wide + GAP
    yield span


def _table(head: str, heads: Sequence[Text], rows: Sequence[_Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(head, no_wrap=True)
    for each in heads:
        table.add_column(each, no_wrap=True)
    for row in rows:
        if row.apart:
            table.add_section()
        table.add_row(row.name, *row.cells)
    return table


def comparison_plot(
    xs: Sequence[float], times: Times, bound: Sequence[float | None], *, x_label: str, width: int = 80, height: int = 14
) -> Text | None:
    """The same as lines, on logarithmic axes; None if there are not two points to draw a line through."""
    rows = {**times, BOUND: bound}
    series = {
        name: [(x, float(y)) for x, y in zip(xs, row, strict=True) if y and x > 0] for name, row in rows.items()
    }  # a logarithm of 0 there is not
    series = {name: points for name, points in series.items() if points}
    if len({x for points in series.values() for x, _ in points}) < 2:
        return None
    return plot(series, width=width, height=height, x_log=True, y_log=True, x_label=x_label, y_label="seconds")
