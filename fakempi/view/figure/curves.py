"""Which curves a comparison draws, how each looks, and which are the fastest somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib import rcParams

from fakempi.view.comparison import MEASURED_SUFFIX, Chart, panels_of
from fakempi.view.figure.canvas import look

FASTEST, OTHERS = 1.9, 0.75
"""Factors of the line width: of curves that are the fastest somewhere, and of algorithms that are gray."""
GRAY = "0.62"
TIE = 1.001
"""Algorithms within a thousandth of the best time are equal."""


class Curves(NamedTuple):
    """The curves of all panels of a figure.

    Attributes
    ----------
    panels : the charts, with the times of every algorithm that has a curve
    labels : curve -> its entry in the legend
    chosen : names of the curves in color
    fastest : names of the curves that are the fastest at some place of some panel
    """

    panels: list[Chart]
    labels: dict[str, str]
    chosen: set[str]
    fastest: set[str]

    def style(self, name: str) -> dict[str, Any]:
        """Return color, marker, line and width of a curve."""
        order = list(dict.fromkeys(curve.removesuffix(MEASURED_SUFFIX) for curve in self.labels))
        chosen = look(order.index(name.removesuffix(MEASURED_SUFFIX)))
        if name not in self.chosen:
            gray = {"color": GRAY, "markerfacecolor": "white", "linewidth": rcParams["lines.linewidth"] * OTHERS}
            return {**chosen, **gray, "markersize": rcParams["lines.markersize"] * OTHERS, "zorder": 1.5}
        if name.endswith(MEASURED_SUFFIX):
            return {**chosen, "linestyle": ":"}
        if name in self.fastest:
            return {**chosen, "linewidth": rcParams["lines.linewidth"] * FASTEST, "zorder": 3}
        return chosen


def curves_of(charts: Sequence[Chart]) -> Curves:
    """Return every algorithm as a curve: those of `panels_of` in color, the others in gray."""
    labels, rest = dict(panels_of(charts).labels), dict[str, str]()
    whole = [chart._replace(times={**chart.times, **chart.further}, most=None) for chart in charts]
    for name, label in panels_of(whole).labels.items():
        members = label.split(" = ")
        colored = next((member for member in members if member in labels), None)
        if colored is None:
            rest[name] = label
        else:  # also names an algorithm that is another one on this machine, and so has no row in the table
            labels[colored] = " = ".join([colored, *(member for member in members if member != colored)])
    labels_of_all = {**labels, **rest}
    panels = [
        chart._replace(times={name: row for name, row in chart.times.items() if name in labels_of_all}) for chart in whole
    ]
    return Curves(panels, labels_of_all, {*labels}, _fastest(panels, {*labels}))


def _fastest(charts: Sequence[Chart], names: set[str]) -> set[str]:
    """Return the names with the least time at some place, up to a tie; none if there is only one modeled curve."""
    modeled = {name for name in names if not name.endswith(MEASURED_SUFFIX)}
    if len(modeled) < 2:
        return set()
    found = set()
    for chart in charts:
        series = {name: dict(points) for name, points in chart.every_series().items() if name in modeled}
        for x in {x for points in series.values() for x in points}:
            times = {name: points[x] for name, points in series.items() if x in points}
            found |= {name for name, time in times.items() if time <= min(times.values()) * TIE}
    return found
