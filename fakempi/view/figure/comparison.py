"""The times of algorithms as curves, one panel per table, with one legend for all panels."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from textwrap import wrap

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from fakempi.view.comparison import BOUND, MEASURED_SUFFIX, Chart, coincidences, omission, panels_of
from fakempi.view.figure.canvas import COLUMN, look, styled
from fakempi.view.numbers import bytes_in_words, count, powers_of_two

_UNITS = ((1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"), (float("inf"), 1.0, "s"))
_MOST_TICKS = 9
PANEL, LINE, CHARACTER = 2.4, 0.14, 0.052
"""Inches: the height of a panel and of a line of text, and the width of a character."""


def comparison_figure(panels: Sequence[Chart], *, width: float, style: str = "") -> Figure:
    """Return a figure with logarithmic axes; a panel is as wide as a column.

    All panels have the same curves, one legend, and one list of remarks. A curve that several algorithms share in every
    panel has one entry in the legend.

    Parameters
    ----------
    panels
        One per table; every panel has two or more points.
    width
        Inches.
    style
        A style of matplotlib, or the path of a `.mplstyle` file.
    """
    with styled(style):
        across = 1 if width < 1.6 * COLUMN else min(2, len(panels))
        down = ceil(len(panels) / across)
        panels, labels, omitted = panels_of(panels)
        common, titles = shared_title([panel.title for panel in panels])
        most, wide = int((width - 0.5) / CHARACTER), int((width / across - 0.5) / CHARACTER)  # characters
        names = [*labels, *[BOUND] * any(BOUND in panel.series() for panel in panels)]
        entries = ["\n".join(wrap(labels.get(name, name), wide)) for name in names]
        columns = max(1, int(width / (0.5 + CHARACTER * max(len(line) for entry in entries for line in entry.split("\n")))))
        notes = _notes(panels, titles, omitted, most)
        if any(" = " in label for label in labels.values()):
            notes.append("=: curves coincide (within 1 %)")
        lines = sum(entry.count("\n") + 1 for entry in entries) / columns + len(notes) + len(wrap(common, most))
        unit, unit_name = time_unit(min(y for panel in panels for points in panel.series().values() for _, y in points))
        figure = Figure(figsize=(width, down * PANEL + LINE * (ceil(lines) + 1)), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False, sharey=True)
        # Every algorithm with a curve, also if only its measured times are drawn: its modeled curve may coincide with that
        # of another algorithm, or have no points because the algorithm rejects the cases.
        algorithms = list(dict.fromkeys(name.removesuffix(MEASURED_SUFFIX) for name in labels))
        time = "time" if any(name.endswith(MEASURED_SUFFIX) for name in labels) else "modeled time"
        for index, (panel, title, ax) in enumerate(zip(panels, titles, axes.flat, strict=False)):
            _draw(ax, panel, algorithms, unit)
            ax.set_title("\n".join(wrap(title, wide - 8)), loc="left")
            ax.set_xlabel(panel.x_label)
            if index % across == 0:
                ax.set_ylabel(f"{time} ({unit_name})")
        for ax in axes.flat[len(panels) :]:
            ax.set_axis_off()
        if common:
            figure.suptitle("\n".join(wrap(common, most)), x=0.01, ha="left", fontsize="medium")
        handles = {text: line for ax in axes.flat for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(
            [handles[name] for name in names],
            entries,
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            title="\n".join(notes) or None,
            title_fontsize=rcParams["legend.fontsize"],
            alignment="left",
        )
        return figure


def shared_title(titles: Sequence[str]) -> tuple[str, list[str]]:
    """Return the parts that all titles have in common, and what is left of each title; nothing in common of one title."""
    parts = [title.split(", ") for title in titles]
    shortest = min(map(len, parts))
    start = next((i for i in range(shortest) if len({each[i] for each in parts}) > 1), shortest)
    end = next((i for i in range(shortest - start) if len({each[-1 - i] for each in parts}) > 1), shortest - start)
    left = [", ".join(each[start : len(each) - end]) for each in parts]
    if not all(left):
        return "", list(titles)
    return ", ".join([*parts[0][:start], *parts[0][len(parts[0]) - end :]]), left


def time_unit(least: float) -> tuple[float, str]:
    """Return the unit of time, in seconds and by name, in which the smallest time of a figure is at least 1."""
    return next((unit, name) for limit, unit, name in _UNITS if least < limit)


def _draw(ax: Axes, panel: Chart, algorithms: Sequence[str], unit: float) -> None:
    series = panel.series()
    for name, points in series.items():
        xs, ys = [x for x, _ in points], [y / unit for _, y in points]
        if name == BOUND:
            ax.plot(xs, ys, color="0.35", linestyle=(0, (1, 1.5)), label=name, zorder=1)
        else:
            measured = name.endswith(MEASURED_SUFFIX)
            how = look(algorithms.index(name.removesuffix(MEASURED_SUFFIX)))
            ax.plot(xs, ys, label=name, **({**how, "linestyle": ":"} if measured else how))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.grid(True, which="major")
    every = sorted({x for points in series.values() for x, _ in points})
    step = ceil(len(every) / _MOST_TICKS)
    ax.xaxis.set_major_locator(FixedLocator(every[::step]))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: bytes_in_words(round(x)) if panel.x_is_bytes else count(x)))
    if panel.x_is_bytes or not powers_of_two(every) or max(every) > 999:
        for label in ax.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: count(y) if y >= 1 else f"{y:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _notes(panels: Sequence[Chart], titles: Sequence[str], omitted: int, width: int) -> list[str]:
    """Return the lines above the legend: curves that coincide in part or in some panels, and how many are not drawn."""
    places: dict[str, list[str]] = {}
    for panel, title in zip(panels, titles, strict=True):
        for sentence in coincidences(panel):
            places.setdefault(sentence, []).append(title)
    sentences = [
        sentence if len(where) == len(panels) else f"{', '.join(where)}: {sentence}" for sentence, where in places.items()
    ]
    if omitted:
        sentences.append(omission(omitted))
    return [line for sentence in sentences for line in wrap(sentence, width, subsequent_indent="    ")]
