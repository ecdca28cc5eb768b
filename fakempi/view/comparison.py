"""Algorithms against each other: a table with the best of each column marked, and a plot of the same figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from fakempi.view.numbers import seconds
from fakempi.view.plot import plot

BEST = "*"
BOUND = "lower bound"

Times = Mapping[str, Sequence[float | None]]


def comparison(
    title: str, labels: Sequence[str], times: Times, bound: Sequence[float | None], *, head: str = "", width: int = 80
) -> Group:
    """Times by algorithm and column; None where an algorithm does not serve. The best are marked, the bound comes last.

    Columns that do not fit side by side come in further tables below.
    """
    least = [min((row[i] for row in times.values() if row[i] is not None), default=None) for i in range(len(labels))]  # type: ignore[type-var]
    cells = {name: [_cell(time, least[i]) for i, time in enumerate(row)] for name, row in times.items()}
    if any(each is not None for each in bound):
        cells[BOUND] = [_cell(each, None) for each in bound]
    parts: list[Table | Text] = []
    names = max(cell_len(name) for name in (*cells, head))
    for span in _spans(labels, cells, width - names):
        parts.append(Text() if parts else Text(title, "bold"))
        parts.append(_table(head, [labels[i] for i in span], {name: [row[i] for i in span] for name, row in cells.items()}))
    return Group(*parts)


def _cell(time: float | None, least: float | None) -> Text:
    if time is None:
        return Text("-  ", "dim")
    best = least is not None and time <= least * (1 + 1e-12)  # as far as floats can tell
    return Text(f"{seconds(time)} {BEST if best else ' '}", "bold green" if best else "")


def _spans(labels: Sequence[str], cells: Mapping[str, Sequence[Text]], room: int) -> Iterator[list[int]]:
    """Runs of columns that fit side by side."""
    span: list[int] = []
    used = 0
    for i, label in enumerate(labels):
        wide = max(cell_len(label) + 2, *(row[i].cell_len for row in cells.values())) + 3  # blanks between
        if span and used + wide > room:
            yield span
            span, used = [], 0
        span.append(i)
        used += wide
    yield span


def _table(head: str, labels: Sequence[str], cells: Mapping[str, Sequence[Text]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column(head, no_wrap=True)
    for label in labels:
        table.add_column(f"{label}  ", justify="right", no_wrap=True)
    for name, row in cells.items():
        if name == BOUND:
            table.add_section()
        table.add_row(Text(name, "dim" if name == BOUND else ""), *row)
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
