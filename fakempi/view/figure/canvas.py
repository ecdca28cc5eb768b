"""The style, the width and the file of a figure.

Text stays text: SVG files name their fonts, and PDF files embed them. The same numbers give the same file, byte for byte,
with the same version of matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import style as styles
from matplotlib.figure import Figure

FORMATS = (".svg", ".pdf", ".png")
COLUMN, PAGE = 3.5, 7.16
"""Inches: one column and both columns of a page with two columns."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colors, which color-blind readers can tell apart."""
MARKERS = "osD^vX*P<>hp8d"
LINES = ("-", "--", "-.")

_DEFAULTS: Any = {
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.0,
    "lines.markersize": 4,
    "grid.color": "#d5d7db",
    "grid.linewidth": 0.4,
}
_FIXED: Any = {"svg.fonttype": "none", "svg.hashsalt": "fakempi", "pdf.fonttype": 42, "savefig.dpi": 300}


@contextmanager
def styled(style: str = "") -> Iterator[None]:
    """Use our style in a `with` block, and on top of it a style of matplotlib or the path of a `.mplstyle` file.

    Raises OSError if there is no such style.
    """
    with matplotlib.rc_context(_DEFAULTS), styles.context(style or {}), matplotlib.rc_context(_FIXED):
        yield


def look(index: int) -> dict[str, Any]:
    """Return the color, marker and line of the curve with this number; markers tell curves apart without colors."""
    return {
        "color": COLORS[index % len(COLORS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": LINES[index // len(MARKERS) % len(LINES)],
        "markerfacecolor": "white" if index % 2 else COLORS[index % len(COLORS)],
    }


def write(figure: Figure, path: Path, style: str = "") -> None:
    """Write a figure; the suffix of the path is the format."""
    # Without a date, so that the same numbers give the same file.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
    with styled(style):
        figure.savefig(path, metadata=metadata, bbox_inches="tight", pad_inches=0.02)
