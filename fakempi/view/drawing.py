"""The timeline and the matrix as vector graphics, with a finer resolution than characters."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from fakempi.trace.blocked import blocked_shares, shown_end
from fakempi.trace.columns import Columns
from fakempi.trace.levels import levels_of
from fakempi.trace.measures import Measures
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, Floats, shares
from fakempi.view.export import COLORS, INK, QUIET, SANS, Drawing
from fakempi.view.numbers import amount, linear_ticks, percent, seconds
from fakempi.view.rows import begins, names, rows_of
from fakempi.view.run_end import report_lines

BLUE, AMBER, GREEN, RED = (COLORS[name] for name in ("blue", "bright_yellow", "green", "red"))
COLUMNS = 640
"""Bins of time, one pixel each."""


def timeline_drawing(
    trace: Columns,
    *,
    height: int = 24,
    start: float = 0,
    end: float | None = None,
    ranks: Sequence[int] | None = None,
    title: str = "",
) -> Drawing:
    """Return a drawing with a row per rank, or per group of ranks if there are more than `height`.

    The colored area of a row and bin is the share of time, averaged over the ranks of the row, in each state.
    """
    end = shown_end(trace) if end is None else end
    groups = rows_of(trace, ranks, "timeline", height)
    edges = np.linspace(start, end if end > start else start + 1, COLUMNS + 1)
    cells, blocked = shares(trace, edges, groups), blocked_shares(trace, edges, groups)
    row_height = 14.0 if len(groups) > 12 else 22.0
    top, left = (34.0 if title else 14.0), 52.0
    parts = [_text(left, 14, title, weight=600)] if title else []
    parts.append(_text(left - 8, top - 4, "rank", "end", QUIET))
    parts.append(_text(left + COLUMNS + 8, top - 4, "idle", fill=QUIET))
    for index, (name, row) in enumerate(zip(names(groups), cells, strict=True)):
        y = top + index * row_height
        parts.append(_text(left - 8, y + row_height * 0.72, name, "end", QUIET))
        parts.append(_area(left, y, row_height - 2, np.minimum(row.sum(axis=1), 1), AMBER))
        parts.append(_area(left, y, row_height - 2, blocked[index], RED))
        parts.append(_area(left, y, row_height - 2, row[:, COMMUNICATING] + row[:, COMPUTING], GREEN))
        parts.append(_area(left, y, row_height - 2, row[:, COMMUNICATING], BLUE))
        inside = row[row.sum(axis=1) > 0.5]
        idle = float(inside[:, IDLE].mean()) if len(inside) else 0.0
        parts.append(_text(left + COLUMNS + 8, y + row_height * 0.72, percent(idle)))
    boundaries = [(row, level) for row, level in enumerate(begins(groups, levels_of(trace))) if row and level]
    for row, level in boundaries:
        parts.append(_boundary(left - 6, top + row * row_height - 1, COLUMNS + 6, level.distance))
    bottom = top + len(groups) * row_height + 16
    for tick in linear_ticks(start, end, 6):
        x = left + (tick - start) / ((end - start) or 1) * COLUMNS
        parts.append(f'<path d="M{x:.1f} {bottom - 16:.1f}v4" stroke="{QUIET}"/>')
        parts.append(_text(x, bottom, seconds(tick), "middle", QUIET))
    x = left
    stuck = [(RED, "blocked")] if blocked.any() else []
    for color, label in ((BLUE, "communicating"), (AMBER, "idle"), (GREEN, "computing"), *stuck):
        parts.append(f'<rect x="{x:.1f}" y="{bottom + 10:.1f}" width="20" height="10" fill="{color}"/>')
        parts.append(_text(x + 27, bottom + 19.5, label))
        x += 52 + 7 * len(label)
    for label, distance in sorted({(level.name, level.distance) for _, level in boundaries}, key=lambda pair: -pair[1]):
        wide = 112 + 7 * len(label)
        if x + wide > left + COLUMNS + 48:
            x, bottom = left, bottom + 18
        parts.append(_boundary(x, bottom + 15, 20, distance))
        parts.append(_text(x + 27, bottom + 19.5, f"{label} boundary"))
        x += wide
    for line in report_lines(trace, 110):
        parts.append(_text(left, bottom + 42, line))
        bottom += 16
    return Drawing(left + COLUMNS + 48, bottom + 36, _set(parts))


def matrix_drawing(trace: Columns, *, height: int = 32, ranks: Sequence[int] | None = None) -> Drawing:
    """Return a heat map of the bytes between ranks: rows are senders, columns are receivers, darker is more."""
    groups = rows_of(trace, ranks, "matrix", height)
    amounts = Measures(trace).matrix(groups)[1]
    most, size = max(int(amounts.max(initial=0)), 1), min(32.0, 480 / len(groups))
    left, top, labels = 52.0, 34.0, names(groups)
    parts = [_text(left, 12, f"bytes from sender (row) to receiver (column); the darkest is {amount(most)}", fill=QUIET)]
    every = max(1, int(np.ceil(36 / size)))
    for row, name in enumerate(labels):
        if row % every == 0 or size >= 12:
            parts.append(_text(left - 8, top + (row + 0.72) * size, name, "end", QUIET))
        if row % every == 0:
            parts.append(_text(left + (row + 0.5) * size, top - 6, str(groups[row][0]), "middle", QUIET))
        for column in np.flatnonzero(amounts[row]).tolist():
            depth = 0.15 + 0.85 * (amounts[row, column] / most) ** 0.5
            place = f'x="{left + column * size:.1f}" y="{top + row * size:.1f}"'
            shape = f'width="{size - 0.5:.1f}" height="{size - 0.5:.1f}" fill="{BLUE}" fill-opacity="{depth:.2f}"'
            parts.append(f"<rect {place} {shape}/>")
    side = len(groups) * size
    parts.append(f'<rect x="{left}" y="{top}" width="{side:.1f}" height="{side:.1f}" fill="none" stroke="#d5d7db"/>')
    return Drawing(left + side + 20, top + side + 16, _set(parts))


def _set(parts: Sequence[str]) -> str:
    return f'<g font-family="{SANS}" font-size="12">{"".join(parts)}</g>'


def _area(left: float, top: float, height: float, level: Floats, color: str) -> str:
    """Return the filled part of a row, bin by bin, as one path; empty bins are omitted."""
    level = np.round(level, 2)
    cuts = np.flatnonzero(np.diff(level)) + 1
    path = []
    for first, last in zip([0, *cuts.tolist()], [*cuts.tolist(), len(level)], strict=True):
        if level[first] > 0:
            high = height * float(level[first])
            path.append(f"M{left + first:g} {top + height - high:.1f}h{last - first}v{high:.1f}h{first - last}z")
    return f'<path d="{"".join(path)}" fill="{color}"/>' if path else ""


def _boundary(x: float, y: float, length: float, distance: int) -> str:
    """Return the boundary of a level: thicker outside of nodes, dashed within them."""
    dashes = f' stroke-dasharray="{6 if distance == -1 else 2} 4"' if distance < 0 else ""
    width = min(1 + max(distance, 0), 4)
    return f'<path d="M{x:.1f} {y:.1f}h{length:.1f}" stroke="{INK}" stroke-opacity="0.6" stroke-width="{width}"{dashes}/>'


def _text(x: float, y: float, text: str, anchor: str = "start", fill: str = INK, weight: int = 400) -> str:
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"{bold}>{escape(text)}</text>'
