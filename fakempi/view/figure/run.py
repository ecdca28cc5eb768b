"""The timeline, the matrix and the wait states of a run as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fakempi.trace.columns import Columns
from fakempi.trace.levels import levels_of
from fakempi.trace.measures import Measures
from fakempi.view.figure.canvas import COLUMN, scale, styled
from fakempi.view.figure.comparison import CHARACTER, LINE
from fakempi.view.figure.timeline import (
    AMBER,
    MOST_ROWS,
    MOST_SHAPES,
    Mark,
    boundary_line,
    boundary_rows,
    draw_mark,
    draw_timeline,
    end_of,
    row_height,
)
from fakempi.view.rows import chosen, names, rows_of
from fakempi.view.run_end import report_lines

__all__ = ["MOST_SHAPES", "VIEWS", "run_figure"]

VIEWS = ("timeline", "matrix", "waits")
CHARACTERS = 20
"""Characters of the report of a failure per inch."""
AXIS = 0.8
"""Inches: the height of the horizontal axis with its labels, and of the space above the rows."""


def run_figure(
    traces: Sequence[Columns],
    views: Sequence[str],
    *,
    width: float,
    titles: Sequence[str] = ("",),
    ranks: Sequence[int] | None = None,
    window: tuple[float, float] | None = None,
    style: str = "",
    marks: Sequence[Mark] = (),
) -> Figure:
    """Return a figure with the views of one run below each other, or with the timelines of several runs on one time scale.

    If a run failed, the report of its failure is below them.

    Parameters
    ----------
    traces
        One or more runs.
    views
        Names out of `VIEWS`; several runs have timelines only.
    marks
        Places in timelines to point out.
    """
    with styled(style):
        drawn = [("timeline", trace) for trace in traces] if len(traces) > 1 else [(view, traces[0]) for view in views]
        heights = [_height(view, trace, ranks, width) for view, trace in drawn]
        report = [line for trace in traces for line in report_lines(trace, round(width * CHARACTERS / scale()))]
        figure = Figure(layout="constrained")
        axes = figure.subplots(len(drawn), 1, squeeze=False, height_ratios=heights)[:, 0]
        entries: dict[str, Patch | Line2D] = {}
        extra = (0.2 + LINE * len(report)) * scale()  # inches next to the views
        start, end = window or (0.0, max(map(end_of, traces)))
        for (view, trace), title, height, ax in zip(drawn, [*titles, *[""] * len(drawn)], heights, axes, strict=False):
            above = 0.0
            if view == "timeline":
                size = width - 0.6 * scale(), max(0.3, height - AXIS * scale())
                handles, above = draw_timeline(ax, trace, start, end, ranks, size)
                for mark in marks:
                    draw_mark(ax, mark, trace, ranks, end)
                extra += above / 72
                entries.update({str(each.get_label()): each for each in handles})
            elif view == "matrix":
                _matrix(figure, ax, trace, ranks)
            else:
                _waits(ax, trace)
            if title:
                lines = wrap(title, int((width - 0.7) / (CHARACTER * scale())))
                extra += LINE * scale() * len(lines)
                ax.set_title("\n".join(lines), loc="left", pad=above + rcParams["axes.titlepad"])
        if report:
            text = "\n".join(report).replace("$", r"\$")
            figure.supxlabel(text, x=0.01, ha="left", ma="left", fontsize=rcParams["xtick.labelsize"])
        if entries:
            extra += LINE * 1.1 * scale() * _add_legend(figure, list(entries.values()), width)
        figure.set_size_inches(width, sum(heights) + extra)
        return figure


def _add_legend(figure: Figure, entries: Sequence[Patch | Line2D], width: float) -> int:
    """Add a legend above the views, with as many columns as have room; returns its number of lines."""
    longest = max(len(str(each.get_label())) for each in entries)
    columns = max(1, min(len(entries), int(width / ((0.5 + CHARACTER * longest) * scale()))))
    figure.legend(handles=list(entries), loc="outside upper center", ncols=columns, frameon=False)
    return -(-len(entries) // columns)


def _height(view: str, trace: Columns, ranks: Sequence[int] | None, width: float) -> float:
    rows = min(len(chosen(trace, ranks, view)), MOST_ROWS)
    if view == "timeline":
        return max(1.3, AXIS + rows * row_height(rows)) * scale()
    return min(width, COLUMN * scale()) * 0.85 if view == "matrix" else 1.6 * scale()


def _matrix(figure: Figure, ax: Axes, trace: Columns, ranks: Sequence[int] | None) -> None:
    """Draw the bytes from each rank to each rank; no bytes is white."""
    groups = rows_of(trace, ranks, "matrix", MOST_ROWS)
    amounts = Measures(trace).matrix(groups)[1].astype(float)
    most = amounts.max(initial=0)
    unit, name = next(
        (unit, name)
        for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
        if most >= unit or unit == 1
    )
    amounts[amounts == 0] = np.nan
    mesh = ax.pcolormesh(amounts / unit, cmap="Blues", vmin=0, vmax=most / unit or 1, edgecolors="none")
    step = -(-len(groups) // 8)
    places, labels = np.arange(0, len(groups), step) + 0.5, names(groups)[::step]
    ax.set_xticks(places, labels, rotation=90 if len(groups) < len(chosen(trace, ranks, "matrix")) else 0)
    ax.set_yticks(places, labels)
    ax.set_ylim(len(groups), 0)
    ax.set_aspect("equal")
    for row, level in boundary_rows(groups, levels_of(trace)):
        for line in (ax.axhline, ax.axvline):
            line(row, color="0.6", linewidth=boundary_line(level)["linewidth"] / 2)
    ax.set_xlabel("receiver (rank)")
    ax.set_ylabel("sender (rank)")
    figure.colorbar(mesh, ax=ax, label=f"data ({name})", shrink=0.9)


def _waits(ax: Axes, trace: Columns) -> None:
    """Draw a bar for each wait state: its share of the time of all ranks."""
    whole = trace.ranks * trace.time or 1
    found = sorted(((spent / whole, state) for state, (spent, _) in Measures(trace).waits.items() if spent), reverse=True)
    ax.barh([state for _, state in found] or ["no idle time"], [100 * share for share, _ in found] or [0], color=AMBER,
            edgecolor="0.35", linewidth=0.5)  # fmt: skip
    ax.invert_yaxis()
    ax.set_xlim(0, 100 * max((share for share, _ in found), default=0.01) * 1.05)
    ax.set_xlabel("share of the time of all ranks (%)")
