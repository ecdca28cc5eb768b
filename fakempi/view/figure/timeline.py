"""The timeline of a run: the state of each rank over time, messages, collective calls, and the waits of a deadlock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fakempi.trace.blocked import blocked_shares, blocked_since, shown_end
from fakempi.trace.columns import Columns
from fakempi.trace.levels import MachineLevel, levels_of
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, Floats, all_busy, all_work, shares
from fakempi.view.export import COLORS
from fakempi.view.figure.arrows import Sketch, draw_messages, draw_waits, label_blocked
from fakempi.view.figure.canvas import scale
from fakempi.view.figure.collectives import label_collectives
from fakempi.view.figure.ticks import label_linear_axis
from fakempi.view.numbers import time_unit
from fakempi.view.rows import begins, names, rows_of

BLUE, AMBER, GREEN, RED = (COLORS[name] for name in ("blue", "bright_yellow", "green", "red"))
COLUMNS = 1200
"""Bins of time."""
MOST_ROWS, MOST_SHAPES = 64, 16
"""Maximum number of rows; with more than MOST_SHAPES rows of groups or of many states, a timeline is an image."""
MOST_BARS = 3000
"""Intervals that are drawn as bars with exact ends; more make large files, and are narrower than a printed dot."""
BAR = 0.9
"""Height of a bar, in rows."""
BLOCKED_END = 1.35
"""Time to which blocked ranks are shown, relative to that of the deadlock, so that its cycle has room."""


class Mark(NamedTuple):
    """A place in a timeline that is pointed out; without a time, at the end."""

    rank: int
    time: float | None
    text: str


def draw_mark(ax: Axes, mark: Mark, trace: Columns, ranks: Sequence[int] | None, end: float) -> None:
    """Draw a cross in the row of a rank, with a text."""
    groups = rows_of(trace, ranks, "timeline", MOST_ROWS)
    row = next((row for row, group in enumerate(groups) if mark.rank in group), None)
    if row is None:
        return
    unit, _ = time_unit(end)
    time = min(end if mark.time is None else mark.time, end)
    ax.plot(
        [time / unit], [row], marker="X", markersize=8 * scale(), color=RED, markeredgecolor="white", zorder=6,
        clip_on=False,
    )  # fmt: skip
    right = time > end / 2
    ax.annotate(
        mark.text, (time / unit, row), xytext=((-8 if right else 8) * scale(), 0), textcoords="offset points", zorder=6,
        ha="right" if right else "left", va="center", color="white", fontweight="bold", fontsize="small",
        bbox={"boxstyle": "round,pad=0.2", "facecolor": RED, "edgecolor": "none"},
    )  # fmt: skip


def row_height(rows: int) -> float:
    """Return the height of a row in inches."""
    return 0.16 if rows <= MOST_SHAPES else 0.07


def end_of(trace: Columns) -> float:
    """Return where the timeline of a whole run ends."""
    end = shown_end(trace)
    return end if end == trace.time else max(end, float(trace.about["ended"].get("time", 0.0)) * BLOCKED_END)


def draw_timeline(
    ax: Axes, trace: Columns, start: float, end: float, ranks: Sequence[int] | None, size: tuple[float, float]
) -> tuple[list[Patch | Line2D], float]:
    """Draw states and messages into axes of about a size in inches.

    Returns the entries of the legend, and the height of the names of collective calls above the rows in points.
    """
    groups = rows_of(trace, ranks, "timeline", MOST_ROWS)
    timeless = end <= start  # all events are at time 0
    end = start + 1e-6 if timeless else end
    unit, name = time_unit(end)
    sketch = Sketch(*size, start, end, len(groups))
    handles: list[Patch | Line2D] = [*_draw_states(ax, trace, groups, start, end, unit)]
    handles += draw_messages(ax, trace, groups, sketch, unit)
    handles += draw_waits(ax, trace, groups, sketch, unit)
    label_blocked(ax, trace, groups, sketch, unit)
    boundaries = list(boundary_rows(groups, levels_of(trace)))
    for row, level in boundaries:
        ax.axhline(row - 0.5, color="black", **boundary_line(level))
    named = {level.name: level for _, level in boundaries}
    for level in sorted(named.values(), key=lambda level: -level.distance):
        handles.append(Line2D([], [], color="black", label=f"{level.name} boundary", **boundary_line(level)))
    _axis_of_rows(ax, groups)
    ax.set_xlim(start / unit, end / unit)
    label_linear_axis(ax.xaxis, start / unit, end / unit)
    if timeless:
        ax.set_xticks([start / unit])
    elif trace.time == 0:  # blocked ranks have no time
        ax.set_xticks([0])
    ax.set_xlabel("modeled time: all events are at time 0" if trace.time == 0 else f"modeled time ({name})")
    ax.set_ylabel("rank")
    return handles, label_collectives(ax, trace, groups, sketch, unit)


def _draw_states(
    ax: Axes, trace: Columns, groups: Sequence[Sequence[int]], start: float, end: float, unit: float
) -> list[Patch | Line2D]:
    bins = np.linspace(start, end, COLUMNS + 1)
    times, blocked = bins / unit, blocked_shares(trace, bins, groups)
    bars = _bars(trace, groups, start, end)
    if bars is not None:
        for color, rows, starts, ends in bars:
            for row in dict.fromkeys(rows.tolist()):
                mine = rows == row
                spans = np.stack((starts[mine], ends[mine] - starts[mine]), axis=1) / unit
                ax.broken_barh(
                    [(left, wide) for left, wide in spans.tolist()], (row - BAR / 2, BAR), color=color, linewidth=0
                )
    elif len(groups) > MOST_SHAPES:
        extent = (times[0], times[-1], len(groups) - 0.5, -0.5)
        ax.imshow(_blended(shares(trace, bins, groups), blocked), extent=extent, aspect="auto", interpolation="none")
    else:
        for row, (one, stuck) in enumerate(zip(shares(trace, bins, groups), blocked, strict=True)):
            whole, busy = np.minimum(one.sum(axis=1), 1), one[:, COMMUNICATING] + one[:, COMPUTING]
            for level, color in ((whole, AMBER), (stuck, RED), (busy, GREEN), (one[:, COMMUNICATING], BLUE)):
                _area(ax, times, row + BAR / 2, level, color)
    return [
        Patch(color=color, label=label)
        for color, label in ((BLUE, "communicating"), (AMBER, "idle"), (GREEN, "computing"), (RED, "blocked"))
        if (color != GREEN or len(trace.compute_rows)) and (color != RED or blocked.any())
    ]


def _bars(
    trace: Columns, groups: Sequence[Sequence[int]], start: float, end: float
) -> list[tuple[str, Any, Floats, Floats]] | None:
    """Return (color, rows, starts, ends) of the states from back to front; None for groups of ranks and many intervals."""
    if any(len(group) > 1 for group in groups):
        return None
    ranks = np.array([group[0] for group in groups])
    row_of = np.full(trace.ranks, -1)
    row_of[ranks] = np.arange(len(groups))
    rest = np.zeros(len(ranks)), np.full(len(ranks), trace.time)
    stuck = ranks[np.isfinite(blocked_since(trace)[ranks])]
    states = (
        (AMBER, ranks, *rest),
        (RED, stuck, blocked_since(trace)[stuck], np.full(len(stuck), max(end, shown_end(trace)))),
        (BLUE, *all_busy(trace)),
        (GREEN, *all_work(trace)),
    )
    found = []
    for color, owner, starts, ends in states:
        mine = (row_of[owner] >= 0) & (ends > start) & (starts < end)
        found.append((color, row_of[owner[mine]], np.maximum(starts[mine], start), np.minimum(ends[mine], end)))
    return found if sum(len(rows) for _, rows, _, _ in found) <= MOST_BARS else None


def _area(ax: Axes, times: Floats, bottom: float, level: Floats, color: str) -> None:
    """Fill a part of a row from the bottom; a point for each change of the level, so that the file is small."""
    level = np.round(level, 2)
    changes = np.concatenate(([0], np.flatnonzero(np.diff(level)) + 1, [len(level)]))
    tops = bottom - BAR * np.append(level[changes[:-1]], level[-1:])
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


def boundary_rows(groups: Sequence[Sequence[int]], levels: Sequence[MachineLevel]) -> Iterator[tuple[int, MachineLevel]]:
    """Yield the rows at which a part of the machine begins, except the first row, with its level."""
    for row, level in enumerate(begins(groups, levels)):
        if row and level:
            yield row, level


def boundary_line(level: MachineLevel) -> dict[str, Any]:
    """Return width and style of a boundary: outer levels are thicker, levels within a node are dotted."""
    styles = {0: (0, (4, 2)), -1: (0, (1.5, 2))}
    width = 0.7 + 0.4 * min(max(level.distance, 0), 3)
    return {"linewidth": width, "linestyle": styles.get(level.distance, "solid" if level.distance > 0 else (0, (0.8, 3)))}


def _axis_of_rows(ax: Axes, groups: Sequence[Sequence[int]]) -> None:
    """Label the rows of ranks from the top; at most 16 labels."""
    step = -(-len(groups) // 16)
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.set_yticks(range(0, len(groups), step), names(groups)[::step])
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
