"""The fit of a calibration: measured and fitted times of each level, and below them the errors at held-out sizes."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from textwrap import wrap
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from fakempi.view.figure.canvas import COLORS, COLUMN, scale, styled
from fakempi.view.figure.comparison import CHARACTER, LINE, MARGIN
from fakempi.view.figure.ticks import integer_limits, label_log_axis, label_number
from fakempi.view.numbers import bytes_in_words, time_unit

FIT, ERRORS = 1.7, 1.1
"""Inches: the height of the panel with times, and of the one with errors."""
LINEAR = 10
"""Percent: up to this error the scale is linear, above it logarithmic, so that large errors do not hide small ones."""


class FitPanel(NamedTuple):
    """One level: measured times, the fitted pieces, and the errors (modeled / measured - 1) at sizes that were held out.

    A point is (bytes, seconds), or (bytes, error). Sizes are positive, because the axis is logarithmic.
    """

    title: str
    measured: Sequence[tuple[int, float]]
    pieces: Sequence[Sequence[tuple[int, float]]]
    held_out: Sequence[tuple[int, float]]


def calibration_figure(panels: Sequence[FitPanel], *, width: float, style: str = "") -> Figure:
    """Return a figure with two axes per level: times with logarithmic axes, and errors in percent."""
    with styled(style):
        across = 1 if width < 1.6 * COLUMN * scale() else min(2, len(panels))
        down = ceil(len(panels) / across)
        figure = Figure(figsize=(width, (down * (FIT + ERRORS) + 2 * LINE) * scale()), layout="constrained")
        rows = figure.subplots(2 * down, across, squeeze=False, height_ratios=[FIT, ERRORS] * down)
        unit, unit_name = time_unit(min(seconds for panel in panels for _, seconds in panel.measured))
        most = max(1.2 * LINEAR, *(130 * abs(error) for panel in panels for _, error in panel.held_out))
        wide = int((width / across - 0.6) / CHARACTER / scale())  # characters
        for number, panel in enumerate(panels):
            times, errors = rows[2 * (number // across)][number % across], rows[2 * (number // across) + 1][number % across]
            _draw_times(times, panel, unit)
            times.set_title("\n".join(wrap(panel.title, wide)), loc="left")
            times.set_ylabel(f"time ({unit_name})")
            _draw_errors(errors, panel, most)
            _label_sizes(times, errors, panel)
        for ax in rows[-2:, across - (down * across - len(panels)) :].flat:
            ax.set_axis_off()
        handles, labels = rows[0][0].get_legend_handles_labels()
        more = rows[1][0].get_legend_handles_labels()
        figure.legend(
            [*handles, *more[0]], [*labels, *more[1]], loc="outside lower center",
            ncols=3 if width > COLUMN * scale() else 2, frameon=False,
        )  # fmt: skip
        return figure


def _draw_times(ax: Axes, panel: FitPanel, unit: float) -> None:
    ax.plot(
        [size for size, _ in panel.measured], [seconds / unit for _, seconds in panel.measured], label="measured",
        linestyle="", marker="o", markersize=3 * scale(), color=COLORS[0], markerfacecolor="white",
    )  # fmt: skip
    for number, piece in enumerate(panel.pieces):
        ax.plot(
            [size for size, _ in piece], [seconds / unit for _, seconds in piece], color=COLORS[1],
            label="fitted" if number == 0 else "",
        )  # fmt: skip
    times = [seconds / unit for points in (panel.measured, *panel.pieces) for _, seconds in points]
    limits = min(times) / MARGIN, max(times) * MARGIN
    ax.set_yscale("log")
    ax.set_ylim(*limits)
    label_log_axis(ax.yaxis, *limits, text=label_number)


def _draw_errors(ax: Axes, panel: FitPanel, most: float) -> None:
    ax.axhline(0, color="0.35", linewidth=0.6)
    ax.plot(
        [size for size, _ in panel.held_out], [100 * error for _, error in panel.held_out], label="error at held-out sizes",
        linestyle="", marker="D", markersize=2.5 * scale(), color=COLORS[2],
    )  # fmt: skip
    ax.set_yscale("symlog", linthresh=LINEAR)
    ax.set_ylim(-most, most)
    ax.yaxis.set_major_locator(FixedLocator([-100, -LINEAR, 0, LINEAR, 100]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    ax.set_ylabel("modeled / \nmeasured - 1 (%)")
    ax.set_xlabel("size of a message")


def _label_sizes(times: Axes, errors: Axes, panel: FitPanel) -> None:
    """Give both axes of a level the same logarithmic scale of sizes; the lower one has the labels."""
    sizes = sorted({size for size, _ in panel.measured})
    limits = integer_limits(sizes)
    for ax in (times, errors):
        ax.set_xscale("log", base=2)
        ax.set_xlim(*limits)
        ax.grid(True, which="major")
        label_log_axis(ax.xaxis, *limits, text=lambda x: bytes_in_words(round(x)), base=2, preferred=sizes)
    times.tick_params(axis="x", labelbottom=False)
    errors.tick_params(axis="x", labelrotation=30)
