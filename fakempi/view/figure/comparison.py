"""The times of algorithms as curves, one panel per table, with one legend for all panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil, log
from textwrap import wrap
from typing import NamedTuple

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fakempi.errors import TraceError
from fakempi.view.comparison import BOUND, MEASURED_SUFFIX, Chart, Series, coincidences
from fakempi.view.figure.canvas import COLUMN, scale, styled
from fakempi.view.figure.curves import Curves, curves_of
from fakempi.view.figure.ticks import integer_limits, label_log_axis, label_number
from fakempi.view.numbers import bytes_in_words, count, time_unit

PANEL, LOWER_PANEL, RATIO, LINE, CHARACTER = 2.4, 1.8, 0.9, 0.14, 0.052
"""Inches: the height of a panel, of one of several below each other, of a panel of ratios, and of a line of text, and the
width of a character."""
TALL_LEGEND = 6
"""Entries above which a legend in one column would be as high as the panel."""
MARGIN = 1.3
"""Factor between the extreme numbers of a vertical axis and its limits."""


class Shape(NamedTuple):
    """The arrangement of the panels: how many next to and below each other, and characters of a line of text."""

    across: int
    down: int
    line: int
    panel_line: int


def comparison_figure(
    panels: Sequence[Chart], *, width: float, style: str = "", speedup_over: str = "", ratios: bool = False
) -> Figure:
    """Return a figure with logarithmic axes; a panel is as wide as a column.

    All panels have the same curves, one legend, and one list of remarks. Every algorithm is in the legend: curves that
    coincide in every panel have one entry, and algorithms without a time are named. Curves that are the fastest somewhere
    are thick. Algorithms that would not be among the curves of a plot are gray.

    Parameters
    ----------
    panels
        One per table; every panel has two or more points.
    speedup_over
        The name of an algorithm: draw its time divided by the time of each algorithm, instead of the times.
    ratios
        Whether each panel has another one below it with the times divided by the least time.
    """
    with styled(style):
        panels = [panel._replace(always={*panel.always, speedup_over} - {""}) for panel in panels]
        curves = curves_of(panels)
        if speedup_over:
            # The algorithm may have no separate curve, because its curve coincides with another one.
            bases = [panel._replace(times={**panel.times, **panel.further}, most=None).every_series() for panel in panels]
            series = [_speedups(panel, base, speedup_over) for panel, base in zip(curves.panels, bases, strict=True)]
        else:
            series = [panel.every_series() for panel in curves.panels]
        if not any(series):
            raise TraceError(f"no speedup over {speedup_over}: it has no time where another algorithm has one.")
        shape = _shape(len(panels), width)
        common, titles = shared_title([panel.title for panel in panels])
        entries, columns = _entries(curves, series, shape, width)
        notes = _notes(curves, titles, shape.line)
        lines = sum(entry.count("\n") + 1 for entry in entries.values()) / columns + len(notes)
        lines += len(wrap(common, shape.line))
        height = (LOWER_PANEL if shape.down > 2 else PANEL) + RATIO * ratios
        # Large type on a slide needs higher panels, but a slide is wide.
        tall = shape.down * height * scale() ** 0.75 + LINE * (ceil(lines) + 1) * scale()
        figure = Figure(figsize=(width, tall), layout="constrained")
        unit, label = (1.0, f"speedup over {speedup_over}") if speedup_over else _time_axis(curves, series)
        _draw_panels(figure, curves, series, titles, shape, unit, label, ratios)
        if common:
            figure.suptitle("\n".join(wrap(common, shape.line)), x=0.01, ha="left", fontsize="medium")
        _add_legend(figure, curves, entries, columns, notes)
        return figure


def _shape(panels: int, width: float) -> Shape:
    wide = width >= 1.6 * COLUMN * scale()
    across = min(2, panels) if wide else 1
    character = CHARACTER * scale()
    return Shape(across, ceil(panels / across), int((width - 0.5) / character), int((width / across - 0.5) / character))


def shared_title(titles: Sequence[str]) -> tuple[str, list[str]]:
    """Return the parts that all titles have in common, and what is left of each title; nothing in common of one title."""
    parts = [title.split(", ") for title in titles]
    shortest = min(map(len, parts))
    start = next((i for i in range(shortest) if len({each[i] for each in parts}) > 1), shortest)
    end = next((i for i in range(shortest - start) if len({each[-1 - i] for each in parts}) > 1), shortest - start)
    left = [", ".join(each[start : len(each) - end]) for each in parts]
    if not all(left):
        return "", list(titles)
    return ", ".join([*parts[0][:start], *parts[0][len(parts[0]) - end :]]), left


def _time_axis(curves: Curves, series: Sequence[Series]) -> tuple[float, str]:
    unit, name = time_unit(min(y for each in series for points in each.values() for _, y in points))
    time = "time" if any(curve.endswith(MEASURED_SUFFIX) for curve in curves.labels) else "modeled time"
    return unit, f"{time} ({name})"


def _speedups(panel: Chart, every: Series, base: str) -> Series:
    """Return the time of one algorithm divided by the times of all; measured times are compared with measured times."""
    series, found = panel.every_series(), Series()
    modeled, measured = dict(every.get(base, ())), dict(every.get(f"{base}{MEASURED_SUFFIX}", ()))
    for name, points in series.items():
        bases = measured if name.endswith(MEASURED_SUFFIX) else modeled
        if quotients := [(x, bases[x] / y) for x, y in points if x in bases]:
            found[name] = quotients
    return found


def _ratios(series: Series) -> Series:
    """Return the times of each algorithm divided by the least modeled time, or if there is none, by the least time."""
    least: dict[float, float] = {}
    modeled = {name: points for name, points in series.items() if name != BOUND and not name.endswith(MEASURED_SUFFIX)}
    for points in (modeled or series).values():
        for x, y in points:
            least[x] = min(y, least.get(x, y))
    return {name: [(x, y / least[x]) for x, y in points if x in least] for name, points in series.items() if name != BOUND}


def _draw_panels(
    figure: Figure,
    curves: Curves,
    series: Sequence[Series],
    titles: Sequence[str],
    shape: Shape,
    unit: float,
    label: str,
    ratios: bool,
) -> None:
    """Draw all panels, with the same limits, and labels at the outer sides."""
    rows = 2 if ratios else 1
    heights = [LOWER_PANEL if shape.down > 2 else PANEL, RATIO][:rows] * shape.down
    axes = figure.subplots(rows * shape.down, shape.across, squeeze=False, height_ratios=heights)
    relative = [_ratios(panel.every_series()) for panel in curves.panels] if ratios else []
    limits = _limits(series, unit), _limits(relative, 1.0) if ratios else (1.0, 1.0)
    xs = sorted({x for each in series for points in each.values() for x, _ in points})
    same_xs = len({(panel.x_label, panel.x_is_bytes) for panel in curves.panels}) == 1
    for index, (panel, title) in enumerate(zip(curves.panels, titles, strict=True)):
        row, column = divmod(index, shape.across)
        stack = [axes[rows * row + part][column] for part in range(rows)]
        _draw(stack[0], curves, series[index], unit, limits[0])
        stack[0].set_title("\n".join(wrap(title, shape.panel_line - 8)), loc="left")
        if ratios:
            _draw(stack[1], curves, relative[index], 1.0, limits[1])
        if column == 0:
            for ax, text in zip(stack, (label, "time /\nfastest"), strict=False):
                ax.set_ylabel(text)
        bottom = index + shape.across >= len(curves.panels) or not same_xs
        for ax in stack:
            _label_x(ax, panel, xs, shape, labeled=bottom and ax is stack[-1])
            ax.tick_params(labelleft=column == 0)
    for index in range(len(curves.panels), shape.across * shape.down):
        for part in range(rows):
            axes[rows * (index // shape.across) + part][index % shape.across].set_axis_off()


def _limits(series: Sequence[Series], unit: float) -> tuple[float, float]:
    ys = [y / unit for each in series for points in each.values() for _, y in points]
    margin = max(1.02, min(MARGIN, (max(ys) / min(ys)) ** 0.1))
    return min(ys) / margin, max(ys) * margin


def _draw(ax: Axes, curves: Curves, series: Series, unit: float, limits: tuple[float, float]) -> None:
    for name, points in series.items():
        xs, ys = [x for x, _ in points], [y / unit for _, y in points]
        if name == BOUND:
            ax.plot(xs, ys, color="0.35", linestyle=(0, (1, 1.5)), label=name, zorder=1)
        elif name in curves.labels:
            ax.plot(xs, ys, label=name, **curves.style(name))
    ax.set_yscale("log")
    ax.set_ylim(*limits)
    label_log_axis(ax.yaxis, *limits, text=label_number)
    ax.grid(True, which="major")
    ax.set_axisbelow(True)


def _label_x(ax: Axes, panel: Chart, xs: Sequence[float], shape: Shape, *, labeled: bool) -> None:
    """Give an axis the limits of all panels; sizes have units, and labels that need room are turned."""
    limits = integer_limits(xs)
    ax.set_xscale("log", base=2)
    ax.set_xlim(*limits)
    words = (lambda x: bytes_in_words(round(x))) if panel.x_is_bytes else count
    label_log_axis(ax.xaxis, *limits, text=words, base=2, preferred=xs)
    ax.tick_params(labelbottom=labeled)
    if not labeled:
        return
    ax.set_xlabel(panel.x_label)
    ticks = [float(tick) for tick in ax.xaxis.get_majorticklocs()]
    gap = min(log(after / before) for before, after in pairwise(ticks)) / log(limits[1] / limits[0])
    if gap * (shape.panel_line - 8) < max(len(words(tick)) for tick in ticks) + 1:
        for text in ax.get_xticklabels():
            text.set(rotation=30, ha="right", rotation_mode="anchor")


def _entries(curves: Curves, series: Sequence[Series], shape: Shape, width: float) -> tuple[dict[str, str], int]:
    """Return the text of each entry of the legend, and the number of columns: as many as have room.

    Long entries are broken so that many of them have two columns.
    """
    drawn = {name for each in series for name in each}
    texts = {name: label for name, label in curves.labels.items() if name in drawn}
    if BOUND in drawn:
        texts[BOUND] = BOUND
    missing = [name for panel in curves.panels for name in panel.without_times]
    for name in dict.fromkeys(missing):
        measured = f"{name}{MEASURED_SUFFIX}" in texts
        if not measured and all(name in panel.without_times for panel in curves.panels):
            texts[name] = f"{name} (no time)"
    most = shape.line // 2 - 10 if len(texts) > TALL_LEGEND and shape.line > 60 else shape.line - 8
    entries = {
        name: "\n".join(wrap(text, most, break_on_hyphens=False, break_long_words=False)) for name, text in texts.items()
    }
    longest = max(len(line) for entry in entries.values() for line in entry.split("\n"))
    return entries, max(1, int(width / ((0.45 + CHARACTER * longest) * scale())))


def _notes(curves: Curves, titles: Sequence[str], width: int) -> list[str]:
    """Return the lines above the legend: curves that coincide in part or in some panels, and the meaning of looks."""
    places: dict[str, list[str]] = {}
    colored = [
        panel._replace(times={name: row for name, row in panel.times.items() if name in curves.chosen})
        for panel in curves.panels
    ]
    for panel, title in zip(colored, titles, strict=True):
        for sentence in coincidences(panel):
            places.setdefault(sentence, []).append(title)
    sentences = [
        sentence if len(where) == len(titles) else f"{', '.join(where)}: {sentence}" for sentence, where in places.items()
    ]
    looks = []
    if curves.fastest and len(curves.labels) > 1:
        looks.append("thick: the fastest at some point")
    if len(curves.chosen) < len(curves.labels):
        looks.append("gray: other algorithms")
    sentences += ["; ".join(looks)] if looks else []
    if any(" = " in label for label in curves.labels.values()):
        sentences.append("=: curves coincide (within 1 %)")
    # No line ends between a number and its unit.
    wrapped = [wrap(each.replace("1 %", "1\0%"), width, subsequent_indent="    ") for each in sentences]
    return [line.replace("\0", " ") for lines in wrapped for line in lines]


def _add_legend(figure: Figure, curves: Curves, entries: Mapping[str, str], columns: int, notes: Sequence[str]) -> None:
    handles = {text: line for ax in figure.axes for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    blank = Line2D([], [], linestyle="")
    legend = figure.legend(
        [handles.get(name, blank) for name in entries],
        entries.values(),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        title="\n".join(notes) or None,
        title_fontsize=rcParams["legend.fontsize"],
        alignment="left",
    )
    for name, text in zip(entries, legend.get_texts(), strict=True):
        if name in curves.fastest:
            text.set_fontweight("bold")
