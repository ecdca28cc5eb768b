"""The timeline, the matrix and the wait states of a run as a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fakempi.trace.blocked import blocked_shares, shown_end
from fakempi.trace.columns import Columns
from fakempi.trace.levels import MachineLevel, levels_of, nodes_of
from fakempi.trace.measures import Measures
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, Floats, shares
from fakempi.view.export import COLORS
from fakempi.view.figure.canvas import COLUMN, styled
from fakempi.view.rows import begins, chosen, names, rows_of
from fakempi.view.run_end import report_lines

VIEWS = ("timeline", "matrix", "waits")
BLUE, AMBER, GREEN, RED = (COLORS[name] for name in ("blue", "bright_yellow", "green", "red"))
COLUMNS = 1200
"""Bins of time."""
CHARACTERS = 20
"""Characters of the report of a failure per inch."""
MOST_LINES = 600
"""Maximum number of messages that are drawn as lines; more would cover the rows."""
MOST_ROWS, MOST_SHAPES = 64, 16
"""Maximum number of rows; with more than MOST_SHAPES rows, a timeline is an image instead of shapes."""
_UNITS = ((1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"), (float("inf"), 1.0, "s"))


def run_figure(
    traces: Sequence[Columns],
    views: Sequence[str],
    *,
    width: float,
    titles: Sequence[str] = ("",),
    ranks: Sequence[int] | None = None,
    window: tuple[float, float] | None = None,
    style: str = "",
) -> Figure:
    """Return a figure with the views of one run below each other, or with the timelines of several runs on one time scale.

    If a run failed, the report of its failure is below them.

    Parameters
    ----------
    traces
        One or more runs.
    views
        Names out of `VIEWS`; several runs have timelines only.
    width
        Inches.
    """
    with styled(style):
        drawn = [("timeline", trace) for trace in traces] if len(traces) > 1 else [(view, traces[0]) for view in views]
        heights = [_height(view, trace, ranks, width) for view, trace in drawn]
        report = [line for trace in traces for line in report_lines(trace, round(width * CHARACTERS))]
        figure = Figure(figsize=(width, sum(heights) + 0.4 + 0.14 * len(report)), layout="constrained")
        axes = figure.subplots(len(drawn), 1, squeeze=False, height_ratios=heights)[:, 0]
        entries: dict[str, Patch | Line2D] = {}
        start, end = window or (0.0, max(map(shown_end, traces)))
        for (view, trace), title, ax in zip(drawn, [*titles, *[""] * len(drawn)], axes, strict=False):
            if view == "timeline":
                entries.update({str(each.get_label()): each for each in _timeline(ax, trace, start, end, ranks)})
            elif view == "matrix":
                _matrix(figure, ax, trace, ranks)
            else:
                _waits(ax, trace)
            if title:
                ax.set_title(title, loc="left")
        if report:
            figure.supxlabel("\n".join(report).replace("$", r"\$"), x=0.01, ha="left", ma="left", fontsize=7)
        if entries:
            columns = 3 if width > 4.5 else 2
            figure.legend(handles=list(entries.values()), loc="outside upper center", ncols=columns, frameon=False)
        return figure


def _height(view: str, trace: Columns, ranks: Sequence[int] | None, width: float) -> float:
    rows = min(len(chosen(trace, ranks, view)), MOST_ROWS)
    if view == "timeline":
        return max(1.3, 0.8 + rows * (0.16 if rows <= 16 else 0.07))
    return min(width, COLUMN) * 0.85 if view == "matrix" else 1.6


def _timeline(ax: Axes, trace: Columns, start: float, end: float, ranks: Sequence[int] | None) -> list[Patch | Line2D]:
    """Draw the share of each state in each bin of time, and messages if there are few; returns the entries of the legend."""
    groups = rows_of(trace, ranks, "timeline", MOST_ROWS)
    timeless = end <= start  # all events are at time 0
    end = start + 1e-6 if timeless else end
    unit, name = next((unit, name) for limit, unit, name in _UNITS if end < limit)
    bins = np.linspace(start, end, COLUMNS + 1)
    times, levels, blocked = bins / unit, shares(trace, bins, groups), blocked_shares(trace, bins, groups)
    if len(groups) > MOST_SHAPES:
        extent = (times[0], times[-1], len(groups) - 0.5, -0.5)
        ax.imshow(_blended(levels, blocked), extent=extent, aspect="auto", interpolation="none")
    else:
        for row, (one, stuck) in enumerate(zip(levels, blocked, strict=True)):
            whole, busy = np.minimum(one.sum(axis=1), 1), one[:, COMMUNICATING] + one[:, COMPUTING]
            for level, color in ((whole, AMBER), (stuck, RED), (busy, GREEN), (one[:, COMMUNICATING], BLUE)):
                _area(ax, times, row + 0.45, level, color)
    handles: list[Patch | Line2D] = [
        Patch(color=color, label=label)
        for color, label in ((BLUE, "communicating"), (AMBER, "idle"), (GREEN, "computing"), (RED, "blocked"))
        if (color != GREEN or len(trace.compute_rows)) and (color != RED or blocked.any())
    ]
    for label, width, lines in _messages(trace, start, end, groups):
        ax.add_collection(LineCollection(list(lines / (unit, 1)), colors="black", linewidths=width))
        handles.append(Line2D([], [], color="black", linewidth=width, label=label))
    boundaries = list(_boundaries(groups, levels_of(trace)))
    for row, level in boundaries:
        ax.axhline(row - 0.5, color="black", **_line(level))
    named = {level.name: level for _, level in boundaries}
    for level in sorted(named.values(), key=lambda level: -level.distance):
        handles.append(Line2D([], [], color="black", label=f"{level.name} boundary", **_line(level)))
    _axis_of_rows(ax, groups)
    ax.set_xlim(times[0], times[-1])
    if timeless:
        ax.set_xticks([times[0]])
    elif trace.time == 0:  # blocked ranks have no time
        ax.set_xticks([0])
    ax.set_xlabel("modeled time: all events are at time 0" if trace.time == 0 else f"modeled time ({name})")
    ax.set_ylabel("rank")
    return handles


def _area(ax: Axes, times: Floats, bottom: float, level: Floats, color: str) -> None:
    """Fill a part of a row from the bottom; a point for each change of the level, so that the file is small."""
    level = np.round(level, 2)
    changes = np.concatenate(([0], np.flatnonzero(np.diff(level)) + 1, [len(level)]))
    tops = bottom - 0.9 * np.append(level[changes[:-1]], level[-1:])
    ax.fill_between(times[changes], bottom, tops, step="post", color=color, linewidth=0)


def _blended(levels: Floats, blocked: Floats) -> Floats:
    """Return an image with the colors of the states in proportion to their shares; white after the end of the run."""
    colors = np.array([to_rgb(BLUE), to_rgb(AMBER), to_rgb(GREEN)])  # in the order of the states
    levels = levels.copy()
    levels[:, :, IDLE] = np.clip(levels[:, :, IDLE] - blocked, 0, 1)
    stuck = np.minimum(blocked, 1 - np.minimum(levels.sum(axis=2), 1))[:, :, None]
    rest = 1 - np.minimum(levels.sum(axis=2), 1)[:, :, None] - stuck
    image: Floats = np.clip(levels @ colors + stuck * np.array(to_rgb(RED)) + rest, 0, 1)
    return image


def _boundaries(groups: Sequence[Sequence[int]], levels: Sequence[MachineLevel]) -> Iterator[tuple[int, MachineLevel]]:
    """Yield the rows at which a part of the machine begins, except the first row, with its level."""
    for row, level in enumerate(begins(groups, levels)):
        if row and level:
            yield row, level


def _line(level: MachineLevel) -> dict[str, Any]:
    """Return width and style of a boundary: outer levels are thicker, levels within a node are dotted."""
    styles = {0: (0, (4, 2)), -1: (0, (1.5, 2))}
    width = 0.7 + 0.4 * min(max(level.distance, 0), 3)
    return {"linewidth": width, "linestyle": styles.get(level.distance, "solid" if level.distance > 0 else (0, (0.8, 3)))}


def _messages(
    trace: Columns, start: float, end: float, groups: Sequence[Sequence[int]]
) -> Iterator[tuple[str, float, Floats]]:
    """Yield a name, a line width and lines from senders to receivers; nothing for groups of ranks and for many lines."""
    if any(len(group) > 1 for group in groups):
        return
    row_of = np.full(trace.ranks, -1)
    row_of[[group[0] for group in groups]] = np.arange(len(groups))
    rows, nodes = trace.transfer_rows, nodes_of(trace)
    shown = rows[(rows["start"] < end) & (rows["arrived"] > start) & np.isfinite(rows["arrived"])]
    shown = shown[(row_of[shown["source"]] >= 0) & (row_of[shown["dest"]] >= 0)]
    if not 0 < len(shown) <= MOST_LINES:
        return
    ends = shown["start"], row_of[shown["source"]], shown["arrived"], row_of[shown["dest"]]
    lines: Floats = np.stack(ends, axis=1).astype(float).reshape(-1, 2, 2)
    if nodes is None:
        yield "message", 0.5, lines
        return
    within = nodes[shown["source"]] == nodes[shown["dest"]]
    for label, width, chosen_lines in (("within a node", 0.3, lines[within]), ("between nodes", 0.9, lines[~within])):
        if len(chosen_lines):
            yield label, width, chosen_lines


def _axis_of_rows(ax: Axes, groups: Sequence[Sequence[int]]) -> None:
    """Label the rows of ranks from the top; at most 16 labels."""
    step = -(-len(groups) // 16)
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.set_yticks(range(0, len(groups), step), names(groups)[::step])
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


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
    for row, level in _boundaries(groups, levels_of(trace)):
        for line in (ax.axhline, ax.axvline):
            line(row, color="0.6", linewidth=_line(level)["linewidth"] / 2)
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
