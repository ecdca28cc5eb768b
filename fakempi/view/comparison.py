"""Comparisons of algorithms: tables with the fastest of each column marked, and a plot of the same times."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from math import isclose, log
from textwrap import wrap
from types import MappingProxyType
from typing import Any, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from fakempi.view.lines import fitted
from fakempi.view.numbers import bytes_in_words, seconds
from fakempi.view.plot import plot

BEST = "*"
CLAIMED = "◦"
EMULATED = "•"
DIFFER = "≠"
BOUND = "lower bound"
RATIO = "ratio"
MEASURED_SUFFIX = ", measured"
"""The end of the name of a curve with times measured on a real machine."""
GAP = 2
"""Blanks between two columns."""
SHORTEST = 8
"""Characters of a name that is shortened because the terminal is narrow."""
MOST_CURVES = 6
"""Algorithms in a plot of an operation's algorithms: with all 17 of allgather, most curves could not be followed."""

Times = Mapping[str, Sequence[float | None]]
Marks = Mapping[str, Sequence[str]]
Series = dict[str, list[tuple[float, float]]]

_LEGEND = {
    BEST: "the fastest",
    CLAIMED: "claimed (from a formula)",
    EMULATED: "emulated",
    DIFFER: "emulated, and the claim differs",
}
_STYLES = {CLAIMED: "dim", EMULATED: "dim", DIFFER: "bold red"}


class _Row(NamedTuple):
    """A line of a table; `new_section` if there is a gap above it."""

    name: Text
    cells: list[Text]
    new_section: bool = False


class Chart(NamedTuple):
    """The curves of a table over bytes or numbers of ranks, for a plot or a figure.

    With `most`, at most that number of algorithms is drawn: one of each group of curves that coincide, the fastest of each
    column (even if these are more than `most`), those in `always`, and then those closest to the fastest on average.

    A figure also has the curves in `further`, of algorithms that are another one in every column and have no row in a table,
    and the names in `without_times`, of algorithms that have a time in no column.
    """

    title: str
    xs: Sequence[float]
    times: Times
    bound: Sequence[float | None]
    x_is_bytes: bool
    x_label: str
    most: int | None = None
    always: Collection[str] = ()
    further: Times = MappingProxyType({})
    without_times: Sequence[str] = ()

    def every_series(self) -> Series:
        """Return the points of each algorithm and of the lower bound for logarithmic axes; 0 has no logarithm."""
        rows = {**self.times, BOUND: self.bound}
        every = {
            name: [(x, float(y)) for x, y in zip(self.xs, row, strict=True) if y and x > 0] for name, row in rows.items()
        }
        return {name: points for name, points in every.items() if points}

    def series(self) -> Series:
        """Return the points of the curves to draw, in the order of the table."""
        every = self.every_series()
        algorithms = {name: points for name, points in every.items() if name != BOUND}
        if self.most is None or len(algorithms) <= self.most:
            return every
        hidden = {name for group in coinciding(algorithms) for name in group[1:]}
        chosen = _closest({name: every[name] for name in algorithms if name not in hidden}, self.most, self.always)
        return {name: points for name, points in every.items() if name in chosen or name == BOUND}

    def omitted(self) -> int:
        """Return the number of algorithms whose curve is not drawn and does not coincide with one that is."""
        every, drawn = self.every_series(), self.series()
        shown = {name for group in coinciding(every) if group[0] in drawn for name in group}
        return len(every.keys() - drawn.keys() - shown)

    def plottable(self) -> bool:
        """Return whether there are points in two or more columns."""
        return len({x for points in self.every_series().values() for x, _ in points}) > 1


class Panels(NamedTuple):
    """Charts that one figure draws with the same curves.

    Attributes
    ----------
    charts : with the times of the curves to draw only
    labels : curve -> its entry in the legend, `a = b` if the curves of both coincide in every chart
    omitted : number of algorithms that no curve stands for
    """

    charts: list[Chart]
    labels: dict[str, str]
    omitted: int


def panels_of(charts: Sequence[Chart]) -> Panels:
    """Choose curves for all charts together: one of those that coincide in every chart, and at most `most` (see `Chart`)."""
    every: dict[str, list[tuple[tuple[int, float], float]]] = {}
    for index, chart in enumerate(charts):
        for name, points in chart.every_series().items():
            if name != BOUND:
                every.setdefault(name, []).extend(((index, x), y) for x, y in points)
    groups = {group[0]: group for group in coinciding({n: p for n, p in every.items() if not n.endswith(MEASURED_SUFFIX)})}
    hidden = {name for group in groups.values() for name in group[1:]}
    curves = {name: points for name, points in every.items() if name not in hidden}
    most, always = charts[0].most, {name for chart in charts for name in chart.always}
    always |= {first for first, group in groups.items() if not always.isdisjoint(group)}
    chosen = set(curves) if most is None or len(curves) <= most else _closest(curves, most, always)
    labels = {name: " = ".join(groups.get(name, [name])) for name in curves if name in chosen}
    drawn = [chart._replace(times={n: row for n, row in chart.times.items() if n in chosen}, most=None) for chart in charts]
    return Panels(drawn, labels, sum(len(groups.get(name, [name])) for name in curves.keys() - chosen))


def _closest(series: Mapping[str, Sequence[tuple[Any, float]]], most: int, always: Collection[str]) -> set[str]:
    """Return the fastest of each column, the names in `always`, and the closest to the fastest on average, up to `most`."""
    fastest: dict[Any, float] = {}
    for points in series.values():
        for x, y in points:
            fastest[x] = min(y, fastest.get(x, y))
    slowdown = {name: sum(log(y / fastest[x]) for x, y in points) / len(points) for name, points in series.items()}
    ranking = sorted(series, key=slowdown.__getitem__)  # stable: equal algorithms in the order of the table
    chosen = {name for name in ranking if name in always}
    for x, y in fastest.items():
        winners = [name for name in ranking if (x, y) in series[name]]
        if chosen.isdisjoint(winners):
            chosen.add(winners[0])
    return chosen | set([name for name in ranking if name not in chosen][: max(0, most - len(chosen))])


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
    """Return tables of times by algorithm and column, with the fastest marked and the lower bound last.

    A time is None if the algorithm rejects the case. `marks` has a character for each time: claimed, emulated or
    different. Columns that do not fit into the width are in further tables below.
    """
    rows = [_Row(Text(name), cells) for name, cells in _cells(times, marks).items()]
    if any(each is not None for each in bound):
        rows.append(_Row(Text(BOUND, "dim"), [_cell(each, " ") for each in bound], new_section=True))
    return _tables(title, head, labels, rows, width)


def comparison_with_measured(
    title: str, labels: Sequence[str], modeled: Times, marks: Marks, measured: Times, *, head: str = "", width: int = 80
) -> Group:
    """Return tables with the modeled time, the measured time, and their ratio, by algorithm and column."""
    above, below = _cells(modeled, marks), _cells(measured, {name: [" "] * len(labels) for name in measured})
    rows, wide = [], max(map(cell_len, modeled))
    for index, (name, model) in enumerate(modeled.items()):
        ratios = [None if not a or b is None else b / float(a) for a, b in zip(model, measured[name], strict=True)]
        cells = [Text("-   ", "dim") if each is None else Text(f"{each:,.3g} ×   ", "cyan") for each in ratios]
        rows.append(_Row(Text(f"{name:<{wide}}  modeled"), above[name], new_section=index > 0))
        rows.append(_Row(Text(f"{'':<{wide}}  measured"), below[name]))
        rows.append(_Row(Text(f"{'':<{wide}}  {RATIO}", "cyan"), cells))
    return _tables(title, head, labels, rows, width)


def legend(marks: Collection[str], *, width: int = 80) -> Text:
    """Return the meanings of the marks that occur; without the mark of a time, no time is the fastest."""
    if not {CLAIMED, EMULATED, DIFFER} & {*marks}:
        return Text("  no algorithm has a time", "dim")
    text, used = Text(style="dim"), 0
    for mark in (BEST, *(mark for mark in (CLAIMED, EMULATED, DIFFER) if mark in marks)):
        entry = f"{mark} {_LEGEND[mark]}"
        gap = "  " if not used else "   " if used + 3 + cell_len(entry) <= width else "\n  "
        text.append(f"{gap}{entry}", _STYLES.get(mark, ""))
        used = cell_len(gap.lstrip("\n") + entry) + (0 if "\n" in gap else used)
    return text


def _cells(times: Times, marks: Marks) -> dict[str, list[Text]]:
    least = [min((time for time in column if time is not None), default=0) for column in zip(*times.values(), strict=True)]
    limits = [time * (1 + 1e-12) for time in least]  # differences below this are rounding errors
    return {name: [_cell(*each) for each in zip(row, marks[name], limits, strict=True)] for name, row in times.items()}


def _cell(time: float | None, mark: str, limit: float = -1) -> Text:
    if time is None:
        return Text("-   ", "dim")
    style = "bold green" if time <= limit else ""
    return Text.assemble((f"{seconds(time)} ", style), (mark, _STYLES.get(mark, "")), (BEST if style else " ", style))


def _tables(title: str, head: str, labels: Sequence[str], rows: Sequence[_Row], width: int) -> Group:
    heads = [Text(f"{label}   ") for label in labels]  # cells end in a blank and two marks
    columns = [[heads[i], *(row.cells[i] for row in rows)] for i in range(len(labels))]
    for cells in columns:
        wide = max(cell.cell_len for cell in cells)
        for cell in cells:
            cell.pad_left(wide - cell.cell_len)  # rich strips trailing blanks when it aligns to the right
    names = max(cell_len(head), *(row.name.cell_len for row in rows))
    space = width - GAP - max(cells[0].cell_len for cells in columns)
    if names > space >= SHORTEST:  # in a narrow terminal, shorten names rather than times
        for row in rows:
            row.name.truncate(space, overflow="ellipsis")
        names = space
    parts: list[Table | Text] = []
    for span in _spans([cells[0].cell_len for cells in columns], width - names):
        parts.append(Text() if parts else Text(fitted(title, width), "bold"))
        chosen = [row._replace(cells=[row.cells[i] for i in span]) for row in rows]
        parts.append(_table(head, [heads[i] for i in span], chosen))
    return Group(*parts)


def _spans(widths: Sequence[int], available: int) -> Iterator[list[int]]:
    """Yield groups of consecutive columns that fit side by side."""
    span: list[int] = []
    used = 0
    for i, wide in enumerate(widths):
        if span and used + wide + GAP > available:
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
        if row.new_section:
            table.add_section()
        table.add_row(row.name, *row.cells)
    return table


def comparison_plot(chart: Chart, *, width: int = 80, height: int = 14) -> Text | None:
    """Return the same times as a plot with logarithmic axes, or None if there are fewer than two columns to plot.

    Curves that coincide are named below the plot: only the first of them is visible. So is the number of omitted algorithms.
    """
    if not chart.plottable():
        return None
    series, label = chart.series(), "bytes" if chart.x_is_bytes else "ranks"
    counts = not chart.x_is_bytes
    picture = plot(
        series, width=width, height=height, x_log=True, y_log=True, x_label=label, y_label="seconds", x_counts=counts
    )
    omitted, sentences = chart.omitted(), coincidences(chart)
    if omitted:
        others = f"{omitted} other algorithm{'s are' if omitted > 1 else ' is'}"
        sentences.append(f"{others} not drawn: they are in the table, and --algorithms selects the curves")
    for sentence in sentences:
        lines = wrap(sentence, width - 2, initial_indent="  ", subsequent_indent="    ")
        picture.append("\n" + "\n".join(lines), "dim")
    return picture


def coinciding(series: Mapping[str, Sequence[tuple[Any, float]]]) -> list[list[str]]:
    """Return the groups of names whose curves have the same x and, up to 1 %, the same y as the first of the group."""
    groups: list[list[str]] = []
    for name, points in series.items():
        for group in groups:
            first = series[group[0]]
            if [x for x, _ in first] == [x for x, _ in points] and all(
                isclose(one[1], other[1], rel_tol=0.01) for one, other in zip(first, points, strict=True)
            ):
                group.append(name)
                break
        else:
            groups.append([name])
    return [group for group in groups if len(group) > 1]


def coincidences(chart: Chart) -> list[str]:
    """Return the sentences about curves that coincide: groups of whole curves, and up to three pairs that coincide in part.

    A pair coincides in part if its first or its last three or more common points do, and these are at least half of them.
    """
    series, within = chart.series(), "(within 1 %)"
    groups = [names for names in coinciding(chart.every_series()) if names[0] in series]
    found = [f"curves coincide {within}: {', '.join(names)}" for names in groups]
    hidden = {name for names in groups for name in names[1:]} | {BOUND}
    partial = []
    for one, other in combinations([name for name in series if name not in hidden], 2):
        where = dict(series[other])
        equal = [(x, isclose(y, where[x], rel_tol=0.01)) for x, y in series[one] if x in where]
        first = next((i for i, (_, same) in enumerate(equal) if not same), len(equal))
        last = next((i for i, (_, same) in enumerate(reversed(equal)) if not same), len(equal))
        number = max(first, last)
        if number < max(3, len(equal) / 2) or number == len(equal):
            continue
        end = equal[first - 1][0] if first >= last else equal[-last][0]
        words = bytes_in_words(round(end)) if chart.x_is_bytes else f"{end:,.0f} ranks"
        part = f"up to {words}" if first >= last else f"from {words} on"
        partial.append(f"curves coincide {part} {within}: {one}, {other}")
    return found + partial[:3]
