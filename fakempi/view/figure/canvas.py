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

COLUMN, PAGE = 3.5, 7.16
"""Inches: one column and both columns of a page with two columns."""

SLIDE = 10.0
"""Inches: the width of a figure for slides."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colors, which color-blind readers can tell apart."""
MARKERS = "osD^vX*P<>hp8d"
LINES = ("-", "--", "-.")

_DEFAULTS: Any = {
    "font.family": "sans-serif",
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 8),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 7),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    "axes.linewidth": 0.6, "lines.linewidth": 1.0, "lines.markersize": 4, "grid.color": "#d5d7db", "grid.linewidth": 0.4,
}  # fmt: skip
_SLIDES: Any = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 18),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 16),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 7),
    **dict.fromkeys(("xtick.minor.size", "ytick.minor.size"), 4),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 1.2),
    **dict.fromkeys(("grid.linewidth", "xtick.minor.width", "ytick.minor.width"), 0.8),
    "figure.titlesize": 20, "lines.linewidth": 2.4, "lines.markersize": 9,
}  # fmt: skip
_FIXED: Any = {"svg.fonttype": "none", "svg.hashsalt": "fakempi", "pdf.fonttype": 42, "savefig.dpi": 300}


@contextmanager
def styled(style: str = "") -> Iterator[None]:
    """Use a style in a `with` block: `paper`, the default, or `slides`, with large type and thick lines.

    On top of ours, it may be a style of matplotlib or the path of a `.mplstyle` file. Raises OSError if there is none.
    """
    other: Any = {"": {}, "paper": {}, "slides": _SLIDES}.get(style, style)
    # matplotlib.style reports names and paths that do not exist as OSError.
    with matplotlib.rc_context(_DEFAULTS), styles.context(other), matplotlib.rc_context(_FIXED):
        yield


def scale() -> float:
    """Return the size of text in the current style, relative to the style `paper`: lengths in inches grow with it."""
    return float(matplotlib.rcParams["font.size"]) / float(_DEFAULTS["font.size"])


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
