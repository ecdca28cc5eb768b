"""Features with an optional package: `-i`, the terminal viewer (textual), and `--figure`, figures (matplotlib)."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakempi.core import options as parse

if TYPE_CHECKING:  # rich takes as long to import as fakempi's part of `fakempi run`
    from fakempi.trace.columns import Columns

FORMATS = (".svg", ".pdf", ".png")
_NAMED = {"one": 3.5, "two": 7.16}
_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}


def terminal_viewer() -> Callable[[Any, str], None]:
    """Return a function that shows a trace under a title until the user quits.

    Raises an error if textual is not installed. Callers check this before a run, so that the run is not wasted.
    """
    try:
        from fakempi.apps.tui.app import browse  # textual is optional, and slow to import
    except ImportError as error:
        raise parse.usage_error(
            "-i needs the package textual, which is not installed. To install it, run: pip install 'fakempi[tui]'"
        ) from error
    return browse


def check_writable(*paths: str | None) -> None:
    """Raise an error if the directory of a file to write does not exist; `-` is standard output."""
    for path in paths:
        if path and path != "-" and not Path(path).absolute().parent.is_dir():
            raise parse.usage_error(f"{path} cannot be written: there is no directory {Path(path).parent}.")


def check_figure(options: Namespace) -> float:
    """Return the width of the figure in inches; raises an error if the figure cannot be made or written."""
    path = Path(options.figure)
    if path.suffix not in FORMATS:
        raise parse.usage_error(f"--figure {path}: the file's name must end in .svg, .pdf or .png.")
    check_writable(str(path))
    width = _width(options.figure_width or ("10in" if options.figure_style == "slides" else "one"))
    try:
        from fakempi.view.figure.canvas import styled  # matplotlib is optional, and slow to import
    except ImportError as error:
        raise parse.usage_error(
            "--figure needs the package matplotlib, which is not installed. To install it, run: pip install 'fakempi[plot]'"
        ) from error
    try:
        with styled(options.figure_style):
            return width
    except OSError:
        raise parse.usage_error(
            f"--figure-style {options.figure_style}: there is no such file, and matplotlib has no such style."
        ) from None


def _width(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(in|cm|mm|pt)", text)
    width = _NAMED.get(text) or (float(found[1]) * _UNITS[found[2]] if found else 0.0)
    if not 1.5 <= width <= 40:
        raise parse.usage_error(f"--figure-width {text}: use one, two, or a width from 1.5in to 40in, such as 12cm.")
    return width


def save_figure(figure: Any, options: Namespace) -> None:
    """Write a figure to the file of `--figure`."""
    from fakempi.view.figure.canvas import write  # matplotlib is optional, and slow to import

    write(figure, Path(options.figure), options.figure_style)


def view_figure(
    traces: Sequence[Columns], names: Sequence[str], titles: Sequence[str], options: Namespace, width: float
) -> None:
    """Write the figure of a run, or of the timelines of two runs."""
    from fakempi.view.figure.run import VIEWS, run_figure

    for name in names:
        if name not in VIEWS:
            raise parse.usage_error(
                f"--figure does not draw {name}, only {', '.join(VIEWS)}. For example: --what {','.join(VIEWS[:2])}"
            )
    ranks, window = selection(options, traces[0])
    shown = titles if len(traces) > 1 else [""]
    style = options.figure_style
    save_figure(run_figure(traces, names, width=width, titles=shown, ranks=ranks, window=window, style=style), options)


def selection(options: Namespace, trace: Columns) -> tuple[Sequence[int] | None, tuple[float, float] | None]:
    """Return the ranks and the window of time to show: those of `--ranks` and `--window`, or None."""
    ranks = parse.ranks(options.ranks, trace.ranks) if options.ranks else None
    return ranks, parse.window(options.window, trace.time) if options.window else None
