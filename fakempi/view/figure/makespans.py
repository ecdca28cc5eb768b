"""The figure of `fakempi replay --compare`: bars of the modeled time by algorithms, one per machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

from matplotlib.figure import Figure

from fakempi.view.figure.canvas import COLORS, scale, styled
from fakempi.view.figure.comparison import CHARACTER, LINE
from fakempi.view.numbers import seconds, time_unit

BAR, GAP = 0.2, 0.14
"""Inches: the height of a bar, and the space between two groups."""


def makespan_figure(
    title: str, times: Mapping[str, Sequence[float | None]], machines: Sequence[str], *, width: float, style: str = ""
) -> Figure:
    """Return a figure with a group of horizontal bars per row of `times`, and a bar in it for each machine.

    Parameters
    ----------
    title
        The text above the bars.
    times
        The modeled times by algorithms, one for each machine; None for algorithms that reject a call.
    machines
        Names of the machines, for the legend; one machine is named in the title.
    """
    with styled(style):
        names, group = list(times), BAR * len(machines) + GAP
        characters = int(width / CHARACTER / scale())
        lines = wrap(title if len(machines) > 1 else f"{title}, {machines[0]}", characters)
        legend = machines if len(machines) > 1 else []
        height = group * len(names) + LINE * (len(lines) + len(legend) + 4)
        figure = Figure(figsize=(width, height * scale()), layout="constrained")
        axes = figure.subplots()
        figure.suptitle("\n".join(lines), fontsize="medium")
        known = [time for row in times.values() for time in row if time]
        unit, unit_name = time_unit(min(known)) if known else (1.0, "s")
        for index, machine in enumerate(machines):
            places = [(row * group + index * BAR) for row in range(len(names))]
            values = [times[name][index] for name in names]
            bars = axes.barh(places, [(time or 0.0) / unit for time in values], BAR, color=COLORS[index % len(COLORS)])
            bars.set_label(machine)
            texts = ["does not fit" if time is None else seconds(time) for time in values]
            axes.bar_label(bars, texts, padding=2, fontsize="small")
        axes.set_yticks([row * group + (len(machines) - 1) * BAR / 2 for row in range(len(names))], names)
        axes.invert_yaxis()
        axes.margins(x=0.2)
        axes.set_xlabel(f"modeled time ({unit_name})")
        if legend:
            figure.legend(loc="outside lower center", frameon=False)
        return figure
