"""Messages as arrows or lines, as far as they remain readable, and the waits of a deadlock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from fakempi.errors.plurals import counted
from fakempi.trace.blocked import blocked_since
from fakempi.trace.columns import Columns
from fakempi.trace.levels import nodes_of
from fakempi.trace.states import Floats
from fakempi.view.figure.canvas import scale

MOST_LINES = 5000
"""Messages for which the density is computed; more lines of a page look alike."""
STRIP = 0.1
"""Inches: the width of the strips of a timeline in which the density of messages is measured."""
DENSE, CROWDED = 0.25, 0.12
"""Part of the area of a strip that lines cover: above DENSE the messages are not drawn, above CROWDED without heads."""
NEAR = 7
"""Strips over which the density is averaged to decide on heads."""
MOST_HEADS = 200
MOST_WAITS = 64
"""Arrows of waits: as many as a timeline has rows."""


class Sketch(NamedTuple):
    """The size of the axes in inches, about; their limits are those of time and of rows."""

    wide: float
    high: float
    start: float
    end: float
    rows: int

    def across(self, times: Any) -> Any:
        """Return the horizontal position of times in inches."""
        return (times - self.start) / (self.end - self.start) * self.wide


def draw_messages(ax: Axes, trace: Columns, groups: Sequence[Sequence[int]], sketch: Sketch, unit: float) -> list[Line2D]:
    """Draw messages where there are few; returns the entries of the legend. Groups of ranks have no messages."""
    if any(len(group) > 1 for group in groups):
        return []
    row_of = np.full(trace.ranks, -1)
    row_of[[group[0] for group in groups]] = np.arange(len(groups))
    rows, nodes = trace.transfer_rows, nodes_of(trace)
    inside = (rows["start"] < sketch.end) & (rows["arrived"] > sketch.start) & np.isfinite(rows["arrived"])
    shown = rows[inside]
    shown = shown[(row_of[shown["source"]] >= 0) & (row_of[shown["dest"]] >= 0) & (shown["source"] != shown["dest"])]
    if not 0 < len(shown) <= MOST_LINES:
        return []
    lines = np.stack(
        (shown["start"], row_of[shown["source"]], shown["arrived"], row_of[shown["dest"]]), axis=1
    ).astype(float)  # fmt: skip
    densest, density = _densities(lines, sketch)
    kinds = _kinds(shown, nodes)
    visible = densest <= DENSE
    with_heads = visible & (density <= CROWDED) & (visible.sum() <= MOST_HEADS)
    omitted = len(shown) - int(visible.sum())
    handles: list[Line2D] = []
    for label, width, of_kind in kinds:
        if not (visible & of_kind).any():
            continue
        if (without := visible & ~with_heads & of_kind).any():
            segments = (lines[without] / (unit, 1, unit, 1)).reshape(-1, 2, 2)
            ax.add_collection(LineCollection(list(segments), colors="black", linewidths=width * scale()))
        _draw_heads(ax, lines[with_heads & of_kind], width, unit)
        handles.append(Line2D([], [], color="black", linewidth=width * scale(), label=label))
    if omitted:
        handles.append(Line2D([], [], linestyle="", label=f"{counted(omitted, 'message', ',')} not drawn"))
    return handles


def _kinds(shown: Any, nodes: Any) -> Iterator[tuple[str, float, Any]]:
    """Yield a name, a line width and the messages of each kind."""
    if nodes is None:
        yield "message", 0.6, np.ones(len(shown), bool)
        return
    within = nodes[shown["source"]] == nodes[shown["dest"]]
    yield "within a node", 0.4, within
    yield "between nodes", 0.9, ~within


def _densities(lines: Floats, sketch: Sketch) -> tuple[Floats, Floats]:
    """Return the part that lines cover of the strips through which each message goes: of the densest, and on average."""
    strips = max(1, int(sketch.wide / STRIP))
    left, right = (np.clip(sketch.across(lines[:, column]), 0, sketch.wide) for column in (0, 2))
    tall = np.abs(lines[:, 3] - lines[:, 1]) / sketch.rows * sketch.high
    first = np.minimum((left / sketch.wide * strips).astype(int), strips - 1)
    last = np.minimum((right / sketch.wide * strips).astype(int), strips - 1)
    number = last - first + 1
    ink = np.hypot(tall, right - left) / number * 0.6 / 72 * scale()  # square inches in a strip, with lines of 0.6 points
    changes = np.zeros(strips + 1)
    np.add.at(changes, first, ink)
    np.add.at(changes, last + 1, -ink)
    covered = np.cumsum(changes[:-1]) / (STRIP * sketch.high)
    near = np.convolve(covered, np.ones(NEAR) / NEAR, mode="same")  # so that all messages of a round have heads, or none
    ends = list(zip(first, last, strict=True))
    return (
        np.array([covered[one : other + 1].max() for one, other in ends]),
        np.array([near[one : other + 1].mean() for one, other in ends]),
    )


def _draw_heads(ax: Axes, lines: Floats, width: float, unit: float) -> None:
    for start, source, end, dest in lines.tolist():
        ax.add_patch(
            FancyArrowPatch(
                (start / unit, source), (end / unit, dest), arrowstyle="-|>", mutation_scale=5 * scale(), shrinkA=0,
                shrinkB=0, color="black", linewidth=width * scale(), zorder=3,
            )
        )  # fmt: skip


def draw_waits(ax: Axes, trace: Columns, groups: Sequence[Sequence[int]], sketch: Sketch, unit: float) -> list[Line2D]:
    """Draw an arrow from each blocked rank to the one it waits for, thick in the cycle; returns entries of the legend."""
    ended = trace.about.get("ended") or {}
    since = blocked_since(trace)
    if not np.isfinite(since).any():
        return []
    row_of = {rank: row for row, group in enumerate(groups) for rank in group}
    cycle = [rank for rank in ended.get("cycle", ()) if rank in row_of]
    pairs = list(zip(cycle, [*cycle[1:], *cycle[:1]], strict=True)) if len(cycle) == len(ended.get("cycle", ())) else []
    others = [
        (record["rank"], rank)
        for record in ended.get("stuck", ())
        for want in record["wants"]
        for rank in want["awaits"][:1]
        if (record["rank"], rank) not in pairs
    ]
    handles = []
    first = max(float(since[np.isfinite(since)].max()), sketch.start)
    for name, arrows, color, width in (
        ("cycle of waits", pairs, "black", 1.1), ("waits for", others, "0.25", 0.5)
    ):  # fmt: skip
        rows = {(row_of[one], row_of[other]) for one, other in arrows if one in row_of and other in row_of}
        drawn = sorted(pair for pair in rows if pair[0] != pair[1])
        if not 0 < len(drawn) <= MOST_WAITS:
            continue
        for one, other in drawn:
            # Arrows down are left of arrows up, so that the long arrow that closes a ring does not cover the others.
            place = first + (sketch.end - first) * (0.3 if one < other else 0.7)
            ax.add_patch(
                FancyArrowPatch(
                    (place / unit, one), (place / unit, other), arrowstyle="-|>", color=color, zorder=4,
                    mutation_scale=(7 if len(drawn) <= 16 else 4) * scale(), linewidth=width * scale(), shrinkA=0, shrinkB=0,
                    connectionstyle="arc3,rad=0" if abs(one - other) == 1 else f"arc3,rad={0.6 / abs(one - other):.3f}",
                )
            )  # fmt: skip
        handles.append(Line2D([], [], color=color, linewidth=width * scale(), marker=">", markersize=3, label=name))
    return handles


def label_blocked(ax: Axes, trace: Columns, groups: Sequence[Sequence[int]], sketch: Sketch, unit: float) -> None:
    """Write the call in which a rank is blocked left of the end, in its row, if the rows are high enough."""
    stuck = {record["rank"]: record["call"] for record in (trace.about.get("ended") or {}).get("stuck", ())}
    high = sketch.high / max(1, sketch.rows) * 72
    size = min(float(rcParams["font.size"]) * 0.8, high * 0.6)
    if size < 4:
        return
    for row, group in enumerate(groups):
        if len(group) == 1 and group[0] in stuck:
            ax.annotate(
                stuck[group[0]], (sketch.end / unit, row), xytext=(3, 0), textcoords="offset points", va="center",
                fontsize=size, annotation_clip=False,
            )  # fmt: skip
