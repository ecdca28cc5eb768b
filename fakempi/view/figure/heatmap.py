"""A map of the fastest algorithm over numbers of ranks and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from string import ascii_uppercase
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fakempi.view.figure.canvas import COLORS, COLUMN, scale, styled
from fakempi.view.figure.comparison import CHARACTER, LINE, shared_title
from fakempi.view.figure.curves import TIE

ROW, AXIS = 0.2, 0.75
"""Inches: the height of a row of cells, and of the axis with its title."""
MOST_LABELS = 10
SHADES = (0.0, 0.55, -0.45)
"""Lightness of the colors of the first, the second and the third seven algorithms."""

Times = Mapping[str, float]


class Map(NamedTuple):
    """The times of all algorithms for each number of ranks and each size; a cell without times is white."""

    title: str
    ranks: Sequence[str]
    sizes: Sequence[str]
    cells: Mapping[tuple[int, int], Times]
    """(row, column) -> the times of algorithms in seconds."""
    x_label: str


def heatmap_figure(maps: Sequence[Map], *, width: float, style: str = "", speedup_over: str = "") -> Figure:
    """Return a figure with a panel for each map; a letter and a color identify the fastest algorithm of a cell.

    Of algorithms within a thousandth of the best time, a cell shows the one that is in most cells. With `speedup_over`, the
    name of an algorithm, a cell also has the time of that algorithm divided by that of the fastest.
    """
    with styled(style):
        winners = _winners([cell for each in maps for cell in each.cells.values()])
        common, titles = shared_title([each.title for each in maps])
        line = int((width - 0.3) / (CHARACTER * scale()))
        notes = ["\n".join(wrap(text, line)) for text in _notes(maps, winners, speedup_over)]
        entries = [f"{_letter(index)} {name}" for index, name in enumerate(winners)]
        columns = max(1, int(width / ((0.5 + CHARACTER * max(map(len, entries))) * scale())))
        heights = [(AXIS + ROW * len(each.ranks)) * scale() for each in maps]
        lines = ceil(len(entries) / columns) + sum(note.count("\n") + 1 for note in notes) + len(wrap(common, line)) + 1
        figure = Figure(figsize=(width, sum(heights) + LINE * lines * scale()), layout="constrained")
        axes = figure.subplots(len(maps), 1, squeeze=False, height_ratios=heights)[:, 0]
        for each, title, ax in zip(maps, titles, axes, strict=True):
            _draw(ax, each, winners, width, speedup_over)
            ax.set_title("\n".join(wrap(title, line)), loc="left")
        if common:
            figure.suptitle("\n".join(wrap(common, line)), x=0.01, ha="left", fontsize="medium")
        handles = [Patch(color=_color(index), label=entry) for index, entry in enumerate(entries)]
        figure.legend(
            handles=handles, loc="outside lower center", ncols=columns, frameon=False, alignment="left",
            title="\n".join(notes), title_fontsize="small",
        )  # fmt: skip
        return figure


def best_of(times: Times) -> list[str]:
    """Return the names within a thousandth of the best time."""
    least = min(times.values(), default=0.0)
    return [name for name, time in times.items() if time <= least * TIE]


def _winners(cells: Sequence[Times]) -> list[str]:
    """Return few algorithms of which one is among the best of each cell, those of most cells first."""
    left, chosen = [best_of(times) for times in cells if times], list[str]()
    while left:
        names = dict.fromkeys(name for best in left for name in best)
        chosen.append(max(names, key=lambda name: sum(name in best for best in left)))
        left = [best for best in left if chosen[-1] not in best]
    return chosen


def _letter(index: int) -> str:
    letter, round_of_letters = ascii_uppercase[index % 26], index // 26
    return f"{letter}{round_of_letters}" if round_of_letters else letter


def _color(index: int) -> tuple[float, float, float]:
    """Return the color of an algorithm: seven colors, then lighter and darker ones."""
    shade = SHADES[index // len(COLORS) % len(SHADES)]
    color = np.array(to_rgb(COLORS[index % len(COLORS)]))
    mixed = color + (1 - color) * shade if shade >= 0 else color * (1 + shade)
    return float(mixed[0]), float(mixed[1]), float(mixed[2])


def _draw(ax: Axes, each: Map, winners: Sequence[str], width: float, speedup_over: str) -> None:
    grid = np.full((len(each.ranks), len(each.sizes)), np.nan)
    room = (width - 0.7) / len(each.sizes) / scale()  # inches for a cell, in the size of the style's type
    for (row, column), times in each.cells.items():
        best = best_of(times)
        if not best:
            continue
        index = next(index for index, name in enumerate(winners) if name in best)
        grid[row, column] = index
        text = _letter(index)
        if speedup_over in times and room > 0.3:
            speedup = times[speedup_over] / min(times.values())
            text += f" {speedup:.2f}" if speedup < 100 else f" {speedup:,.0f}"
        dark = np.dot(_color(index), (0.299, 0.587, 0.114)) < 0.5
        size = min(7.0, 60 * room / max(2, len(text))) * scale()
        ax.text(
            column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=size, color="white" if dark else "black"
        )  # fmt: skip
    colors = ListedColormap([_color(index) for index in range(len(winners))])
    ax.pcolormesh(grid, cmap=colors, vmin=-0.5, vmax=len(winners) - 0.5, edgecolors="white", linewidth=0.4)
    most = MOST_LABELS if width >= 1.6 * COLUMN * scale() else MOST_LABELS // 2
    step = ceil(len(each.sizes) / most)
    ax.set_xticks(np.arange(0, len(each.sizes), step) + 0.5, each.sizes[::step])
    if sum(len(text) + 2 for text in each.sizes[::step]) * CHARACTER * scale() > width - 0.7:
        for label in ax.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(np.arange(len(each.ranks)) + 0.5, each.ranks)
    ax.tick_params(length=0)
    ax.set_xlabel(each.x_label)
    ax.set_ylabel("number of ranks")


def _notes(maps: Sequence[Map], winners: Sequence[str], speedup_over: str) -> list[str]:
    cells = [times for each in maps for times in each.cells.values()]
    notes = []
    if speedup_over:
        notes.append(f"numbers: speedup of the fastest algorithm over {speedup_over}")
    others = dict.fromkeys(name for times in cells for name in best_of(times) if name not in winners)
    if others:
        notes.append(f"in some cells as fast (within 0.1 %): {', '.join(others)}")
    return notes
