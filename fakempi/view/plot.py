"""Lines over numbers in the terminal: axes, ticks, a marker and a colour for each series, and a legend.

Lines are drawn in braille, which has eight dots to a character. All lines look alike without colour, so every series has
a marker of its own, set where its points are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil, isfinite, log10

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from fakempi.errors import TraceError
from fakempi.view.numbers import linear_ticks, log_ticks, powers_of_two, short, short_binary

MARKERS = "●○■□▲△◆◇×+*#"
COLOURS = ("bright_blue", "yellow", "green", "magenta", "cyan", "red", "bright_white", "bright_black")
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # a braille character's dots, row by row
_BRAILLE = 0x2800

Points = Sequence[tuple[float, float]]


class Axis:
    """One direction: which numbers it spans, where on 0..1 a number lies, and its ticks."""

    def __init__(self, name: str, numbers: Sequence[float], log: bool, most: int) -> None:
        self.log = log
        low, high = min(numbers), max(numbers)
        if log and low <= 0:
            raise TraceError(f"plot: {name} is logarithmic, but {short(low)} is among its numbers: they must be positive.")
        binary = log and high > low and powers_of_two(numbers)
        self.words: Callable[[float], str] = short_binary if binary and low >= 1 else short
        if log:
            self.ticks = log_ticks(low, high, most, 2 if binary else 10)
        else:
            if low >= 0 and low <= 0.5 * high:
                low = 0.0  # lengths above the axis then compare as the numbers do
            self.ticks = linear_ticks(low, high, most)
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - (abs(low) or 1), high + (abs(high) or 1))
        elif not log and name == "y" and len(self.ticks) > 1:
            high = max(high, self.ticks[-1])
        self.low, self.high = (log10(low), log10(high)) if log else (low, high)

    def place(self, number: float) -> float:
        """Where a number lies: 0 at the low end, 1 at the high end."""
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
    title: str = "",
) -> Text:
    """A line plot of named series of (x, y), so many columns wide and so many rows high without title, axis and legend.

    Points that are not finite are left out, and the line is broken there. Raises TraceError where there is nothing to plot,
    where a logarithmic axis is to hold a number that is not positive, and where there is no room.
    """
    lines = {name: [(float(x), float(y)) for x, y in points] for name, points in series.items()}
    finite = [(x, y) for points in lines.values() for x, y in points if isfinite(x) and isfinite(y)]
    if not finite:
        raise TraceError("plot: there is nothing to plot: no series has a point with finite numbers.")
    if width < 24 or height < 4:
        raise TraceError(f"plot: {width} columns and {height} rows are too few; there must be at least 24 and 4.")
    y_axis = Axis("y", [y for _, y in finite], y_log, max(2, height // 3))
    labels = [y_axis.words(tick) for tick in y_axis.ticks]
    margin = max(cell_len(label) for label in labels)
    columns = width - margin - 2
    x_axis = Axis("x", [x for x, _ in finite], x_log, max(2, columns // 9))
    canvas = _Canvas(columns, height)
    for index, points in enumerate(lines.values()):
        canvas.draw([(x_axis.place(x), y_axis.place(y)) if isfinite(x) and isfinite(y) else None for x, y in points], index)

    text = Text(no_wrap=True, overflow="crop")
    if title:
        text.append(_centred(title, width) + "\n", "bold")
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
    """Characters that lines and markers are drawn on; 0 to 1 is the whole of it in either direction."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.dots = np.zeros((rows, columns), dtype=np.int32)
        self.owner = np.full((rows, columns), -1)
        self.markers: dict[tuple[int, int], int] = {}

    def dot(self, place: tuple[float, float]) -> tuple[float, float]:
        """The dot, counted from the left and from the top, for a place; there are two by four to a character."""
        x, y = min(max(place[0], 0), 1), min(max(place[1], 0), 1)
        return 2 * (self.columns - 1) * x + 0.5, 4 * (self.rows - 1) * (1 - y) + 1.5

    def cell(self, place: tuple[float, float]) -> tuple[int, int]:
        """The row and the column of the character for a place."""
        x, y = self.dot(place)
        return int(y) // 4, int(x) // 2

    def draw(self, places: Sequence[tuple[float, float] | None], series: int) -> None:
        """A line through the places, and markers on them, but not closer than so that they can be told apart."""
        for one, other in pairwise(places):
            if one is not None and other is not None:
                self._line(one, other, series)
        here = [place for place in places if place is not None]
        apart = ceil(len(here) / max(self.columns // 4, 1))
        for index, place in enumerate(here):
            if index % apart == 0 or index == len(here) - 1:
                # Of two series at one place the one that came first keeps it: the other shows where they part.
                self.markers.setdefault(self.cell(place), series)

    def _line(self, one: tuple[float, float], other: tuple[float, float], series: int) -> None:
        (x0, y0), (x1, y1) = self.dot(one), self.dot(other)
        steps = max(2, ceil(max(abs(x1 - x0), abs(y1 - y0))) + 1)
        xs, ys = np.linspace(x0, x1, steps).astype(int), np.linspace(y0, y1, steps).astype(int)
        for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
            cell = y // 4, x // 2
            if self.owner[cell] in (-1, series):
                self.owner[cell] = series
                self.dots[cell] |= _DOTS[y % 4][x % 2]

    def append_row(self, text: Text, row: int) -> None:
        """One row of characters, in the colours of what is there."""
        for column in range(self.columns):
            marker = self.markers.get((row, column))
            if marker is not None:
                text.append(MARKERS[marker % len(MARKERS)], f"bold {colour(marker)}")
            elif self.dots[row, column]:
                text.append(chr(_BRAILLE + int(self.dots[row, column])), colour(int(self.owner[row, column])))
            else:
                text.append(" ")


def colour(series: int) -> str:
    """The colour of a series, one of the 16 that every terminal has."""
    return COLOURS[series % len(COLOURS)]


def _append_x_axis(text: Text, axis: Axis, columns: int, margin: int, x_label: str) -> None:
    line, below = ["─"] * columns, [" "] * (columns + margin + 2)
    end = 0  # of the last label
    for tick in axis.ticks:
        column = int(axis.place(tick) * (columns - 1) + 0.25)
        line[column] = "┬"
        words = axis.words(tick)
        start = min(max(margin + 2 + column - len(words) // 2, 0), len(below) - len(words))
        if start >= end:
            below[start : start + len(words)] = words
            end = start + len(words) + 1
    text.append(" " * (margin + 1) + "└" + "".join(line) + "\n")
    text.append("".join(below).rstrip())
    if x_label:
        text.append("\n" + (" " * (margin + 2) + _centred(x_label, columns)).rstrip(), "italic")


def _append_legend(text: Text, names: Sequence[str], width: int) -> None:
    room = width + 1
    for index, name in enumerate(names):
        needed = cell_len(name) + 5
        if room + needed > width:
            text.append("\n")
            room = 0
        text.append(f"  {MARKERS[index % len(MARKERS)]} ", f"bold {colour(index)}")
        text.append(name + " ")
        room += needed


def _centred(words: str, width: int) -> str:
    return (" " * ((width - cell_len(words)) // 2) + words).rstrip()
