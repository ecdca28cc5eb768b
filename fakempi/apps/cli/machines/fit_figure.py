"""The figure of `fakempi calibrate --figure`: measured and fitted times of each level, and errors at held-out sizes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise

from fakempi.apps.cli.extras import save_figure
from fakempi.core.network.models.multi_level import PiecewiseLinear
from fakempi.machines.calibration import Calibration
from fakempi.machines.samples import Sample

STEPS = 8
"""Points of a fitted curve per power of two. A linear function is curved on logarithmic axes, so two points are too few."""


def write_figure(calibration: Calibration, samples: Sequence[Sample], options: Namespace, width: float) -> None:
    """Write the figure; `width` is in inches. Empty messages are omitted, since a logarithmic axis has no 0."""
    from fakempi.view.figure.calibration import FitPanel, calibration_figure  # matplotlib is optional, and slow to import

    panels = []
    for report in calibration.levels:
        times = [sample for sample in samples if (sample.level, sample.kind) == (report.name, "time") and sample.nbytes]
        measured = sorted((sample.nbytes, sample.seconds) for sample in times)
        pieces = _curve(calibration.model.levels[report.name].time, measured[0][0], measured[-1][0])
        held_out = list(zip(report.held_out.sizes, report.held_out.residuals, strict=True))
        title = f"level {report.name}: error {report.held_out.median:.1%}, Hockney's model {report.hockney.median:.1%}"
        panels.append(FitPanel(title, measured, pieces, held_out))
    save_figure(calibration_figure(panels, width=width, style=options.figure_style), options)


def _curve(cost: PiecewiseLinear, least: int, most: int) -> list[list[tuple[int, float]]]:
    """Return points of each piece between two sizes."""
    grid = {round(2 ** (step / STEPS)) for step in range(STEPS * most.bit_length())}
    pieces = []
    for start, end in pairwise([*(piece.start for piece in cost.pieces), most + 1]):
        low, high = max(start, least), min(end - 1, most)
        sizes = sorted({size for size in (low, *grid, high) if low <= size <= high})
        if sizes:
            pieces.append([(size, float(cost(size))) for size in sizes])
    return pieces
