"""The names of collective calls above a timeline, with a line over the time of each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from fakempi.trace.columns import Columns
from fakempi.view.figure.arrows import Sketch
from fakempi.view.figure.canvas import scale

LEVELS = 3
"""Lines of labels; a label without room in all of them is left out."""
MOST_CALLS = 2000
GAP = 0.02
"""Part of the time of the run up to which two calls of the same name are adjacent."""


class CollectiveSpan(NamedTuple):
    """A collective call, or several ones of the same name: when its first rank began, and when its last one ended."""

    name: str
    start: float
    end: float
    calls: int = 1


def collective_spans(trace: Columns, ranks: Sequence[int]) -> list[CollectiveSpan]:
    """Return the outermost collective calls of some ranks by time; one span for adjacent calls of the same name.

    Ranks of a call have the same context and number. Regions that a program names itself have no context.
    """
    rows = trace.region_rows
    rows = rows[(rows["parent"] < 0) & (rows["context"] > 0) & np.isin(rows["rank"], ranks)]
    keys, inverse = np.unique(rows[["context", "number", "name"]], return_inverse=True)
    if not 0 < len(keys) <= MOST_CALLS:
        return []
    starts, ends = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    np.minimum.at(starts, inverse, rows["start"])
    np.maximum.at(ends, inverse, rows["end"])
    calls = [
        CollectiveSpan(trace.names[key["name"]], float(start), float(end))
        for key, start, end in zip(keys, starts, ends, strict=True)
    ]
    calls.sort(key=lambda span: (span.start, span.end))
    merged: list[CollectiveSpan] = []
    for call in calls:
        last = merged[-1] if merged else None
        if last is not None and last.name == call.name and call.start - last.end <= GAP * trace.time:
            merged[-1] = CollectiveSpan(call.name, last.start, max(last.end, call.end), last.calls + 1)
        else:
            merged.append(call)
    return merged


def label_collectives(ax: Axes, trace: Columns, groups: Sequence[Sequence[int]], sketch: Sketch, unit: float) -> float:
    """Draw lines and names above the rows; returns the height that they take in points."""
    size = float(rcParams["font.size"]) * 0.8
    taken, used = [-1.0] * LEVELS, 0
    line = size * 1.9  # points
    for span in collective_spans(trace, [rank for group in groups for rank in group]):
        start, end = max(span.start, sketch.start), min(span.end, sketch.end)
        if end < start:
            continue
        text = span.name if span.calls == 1 else f"{span.name} ×{span.calls}"
        middle, half = sketch.across((start + end) / 2), 0.3 * size * len(text) / 72
        middle = min(max(middle, half), sketch.wide - half)
        left = min(sketch.across(start), middle - half)
        level = next((level for level in range(LEVELS) if left >= taken[level]), None)
        if level is None:
            continue
        taken[level] = max(sketch.across(end), middle + half) + 0.05
        used = max(used, level + 1)
        _draw(
            ax, span._replace(name=text, start=start, end=end), middle / sketch.wide, 3 * scale() + level * line, size, unit
        )
    return used * line


def _draw(ax: Axes, span: CollectiveSpan, middle: float, height: float, size: float, unit: float) -> None:
    """Draw the line and the name of a call; `middle` is a part of the width, `height` is in points above the rows."""
    figure = ax.get_figure()
    assert figure is not None
    above = ax.get_xaxis_transform() + ScaledTranslation(0, height / 72, figure.dpi_scale_trans)
    times = [span.start / unit, span.end / unit]
    ax.add_line(Line2D(times, [1, 1], transform=above, color="0.3", linewidth=1.2 * scale(), marker="|", clip_on=False))
    ax.annotate(
        span.name, (middle, 1), xycoords="axes fraction", xytext=(0, height + 2 * scale()), textcoords="offset points",
        ha="center", va="bottom", fontsize=size, annotation_clip=False,
    )  # fmt: skip
