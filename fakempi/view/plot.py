"""Line plots in the terminal: axes, ticks, a marker and a color for each series, and a legend.

Lines are drawn in braille, which has eight dots per character. Without color all lines look alike, so every series has
its own marker at its points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil, isfinite, log10

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from fakempi.errors import TraceError
from fakempi.view.numbers import count, linear_ticks, log_ticks, powers_of_two, short, short_binary

MARKERS = "●○■□▲△◆◇×+*#@%&=ABCDEFGHIJKLMNOPQRSTUVWXYZ"
COLORS = ("bright_blue", "yellow", "green", "magenta", "cyan", "red", "bright_white", "bright_black")
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # a braille character's dots, row by row
_BRAILLE = 0x2800

Points = Sequence[tuple[float, float]]


class Axis:
    """One axis: its range, at most `maximum` ticks, the format of their labels, and the mapping of numbers to 0..1."""

    def __init__(self, name: str, numbers: Sequence[float], log: bool, maximum: int, counts: bool = False) -> None:
        self.log = log
        low, high = min(numbers), max(numbers)
        if log and low <= 0:
            raise TraceError(f"plot: {name} is logarithmic, but has the number {short(low)}: numbers must be positive.")
        binary = log and high > low and powers_of_two(numbers)
        prefixed = short_binary if binary and low >= 1 else short
        self.formatted: Callable[[float], str] = count if counts else prefixed
        if log:
            self.ticks = log_ticks(low, high, maximum, 2 if binary else 10)
        else:
            if low >= 0 and low <= 0.5 * high:
                low = 0.0  # so that heights above the axis are proportional to the numbers
            self.ticks = linear_ticks(low, high, maximum)
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - (abs(low) or 1), high + (abs(high) or 1))
        elif not log and name == "y" and len(self.ticks) > 1:
            high = max(high, self.ticks[-1])
        self.low, self.high = (log10(low), log10(high)) if log else (low, high)

    def place(self, number: float) -> float:
        """Return the position of a number: 0 at the low end, 1 at the high end."""
        return ((log10(number) if self.log else number) - self.low) / (self.high - self.low)


def plot(
    series: Mapping[str, Points],
    *,
    width: int = 72,
    height: int = 16,
    x_log: bool = False,
    y_log: bool = False,
    x_label: str = "",
    y_label: str = "",
    x_counts: bool = False,
    title: str = "",
) -> Text:
    """Return a line plot of named series of (x, y); `height` is the number of rows without title, axis and legend.

    With `x_counts`, the labels of the x axis are counts, for example of ranks: 1,024 instead of 1Ki.
    Points that are not finite are omitted and interrupt the line. Raises TraceError if there is nothing to plot, if a
    number on a logarithmic axis is not positive, or if the size is too small.
    """
    lines = {name: [(float(x), float(y)) for x, y in points] for name, points in series.items()}
    finite = [(x, y) for points in lines.values() for x, y in points if isfinite(x) and isfinite(y)]
    if not finite:
        raise TraceError("plot: there is nothing to plot: no series has a point with finite numbers.")
    if width < 24 or height < 4:
        raise TraceError(f"plot: {width} columns and {height} rows are too few; the minimum is 24 and 4.")
    y_axis = Axis("y", [y for _, y in finite], y_log, max(2, height // 3))
    labels = [y_axis.formatted(tick) for tick in y_axis.ticks]
    margin = max(cell_len(label) for label in labels)
    columns = width - margin - 2
    x_axis = Axis("x", [x for x, _ in finite], x_log, max(2, columns // 9), x_counts)
    canvas = _Canvas(columns, height)
    for index, points in enumerate(lines.values()):
        canvas.draw([(x_axis.place(x), y_axis.place(y)) if isfinite(x) and isfinite(y) else None for x, y in points], index)

    text = Text(no_wrap=True, overflow="crop")
    if title:
        text.append(_centered(title, width) + "\n", "bold")
    if y_label:
        text.append(f"{y_label}\n", "italic")
    rows = {canvas.cell((0, y_axis.place(tick)))[0]: label for tick, label in zip(y_axis.ticks, labels, strict=True)}
    for row in range(height):
        label = rows.get(row, "")
        text.append(f"{label:>{margin}} {'┤' if row in rows else '│'}")
        canvas.append_row(text, row)
        text.append("\n")
    _append_x_axis(text, x_axis, columns, margin, x_label)
    _append_legend(text, list(lines), width)
    return text


class _Canvas:
    """A grid of characters for lines and markers; coordinates are 0 to 1 in either direction."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.dots = np.zeros((rows, columns), dtype=np.int32)
        self.owner = np.full((rows, columns), -1)  # the series whose line is drawn in a cell
        self.markers: dict[tuple[int, int], int] = {}  # (row, column) -> series

    def dot(self, point: tuple[float, float]) -> tuple[float, float]:
        """Return the coordinates of a point in dots, from the left and from the top; a character is 2 x 4 dots."""
        x, y = min(max(point[0], 0), 1), min(max(point[1], 0), 1)
        return 2 * (self.columns - 1) * x + 0.5, 4 * (self.rows - 1) * (1 - y) + 1.5

    def cell(self, point: tuple[float, float]) -> tuple[int, int]:
        """Return the row and the column of the character at a point."""
        x, y = self.dot(point)
        return int(y) // 4, int(x) // 2

    def draw(self, points: Sequence[tuple[float, float] | None], series: int) -> None:
        """Draw a line through the points, and markers at them, except markers that would be too close; None is a gap."""
        for start, end in pairwise(points):
            if start is not None and end is not None:
                self._line(start, end, series)
        drawn = [point for point in points if point is not None]
        spacing = ceil(len(drawn) / max(self.columns // 4, 1))
        for index, point in enumerate(drawn):
            if index % spacing == 0 or index == len(drawn) - 1:
                # If two series have a marker in one cell, the first series keeps it.
                self.markers.setdefault(self.cell(point), series)

    def _line(self, start: tuple[float, float], end: tuple[float, float], series: int) -> None:
        (x0, y0), (x1, y1) = self.dot(start), self.dot(end)
        steps = max(2, ceil(max(abs(x1 - x0), abs(y1 - y0))) + 1)
        xs, ys = np.linspace(x0, x1, steps).astype(int), np.linspace(y0, y1, steps).astype(int)
        for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
            cell = y // 4, x // 2
            if self.owner[cell] in (-1, series):
                self.owner[cell] = series
                self.dots[cell] |= _DOTS[y % 4][x % 2]

    def append_row(self, text: Text, row: int) -> None:
        """Append one row of characters with their colors."""
        for column in range(self.columns):
            marker = self.markers.get((row, column))
            if marker is not None:
                text.append(MARKERS[marker % len(MARKERS)], f"bold {color(marker)}")
            elif self.dots[row, column]:
                text.append(chr(_BRAILLE + int(self.dots[row, column])), color(int(self.owner[row, column])))
            else:
                text.append(" ")


def color(series: int) -> str:
    """Return the color of a series, one of the 16 standard terminal colors."""
    return COLORS[series % len(COLORS)]


def _append_x_axis(text: Text, axis: Axis, columns: int, margin: int, x_label: str) -> None:
    line, labels = ["─"] * columns, [" "] * (columns + margin + 2)
    end = 0  # first column after the last label
    for tick in axis.ticks:
        column = int(axis.place(tick) * (columns - 1) + 0.25)
        line[column] = "┬"
        label = axis.formatted(tick)
        start = min(max(margin + 2 + column - len(label) // 2, 0), len(labels) - len(label))
        if start >= end:
            labels[start : start + len(label)] = label
            end = start + len(label) + 1
    text.append(" " * (margin + 1) + "└" + "".join(line) + "\n")
    text.append("".join(labels).rstrip())
    if x_label:
        text.append("\n" + (" " * (margin + 2) + _centered(x_label, columns)).rstrip(), "italic")


def _append_legend(text: Text, names: Sequence[str], width: int) -> None:
    used = width + 1
    for index, name in enumerate(names):
        needed = cell_len(name) + 5
        if used + needed > width:
            text.append("\n")
            used = 0
        text.append(f"  {MARKERS[index % len(MARKERS)]} ", f"bold {color(index)}")
        text.append(name + " ")
        used += needed


def _centered(text: str, width: int) -> str:
    return (" " * ((width - cell_len(text)) // 2) + text).rstrip()
