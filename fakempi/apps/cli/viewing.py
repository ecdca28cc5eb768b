"""`fakempi view`: show a trace in the terminal, or write it to an SVG or HTML file."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from fakempi.apps.cli.console import console
from fakempi.apps.cli.extras import check_figure, selection, terminal_viewer, view_figure
from fakempi.apps.cli.keyboard import keyboard
from fakempi.apps.cli.paging import rows_left, show
from fakempi.apps.cli.replaying import ReplayControls, play
from fakempi.core import options as parse
from fakempi.errors import printable
from fakempi.errors.paths import missing_file
from fakempi.trace.blocked import shown_end
from fakempi.trace.record import Trace, load
from fakempi.view.drawing import matrix_drawing, timeline_drawing
from fakempi.view.export import to_svg
from fakempi.view.gallery import NAMES, default_views, pictures
from fakempi.view.numbers import seconds
from fakempi.view.page.assemble import TABS, page
from fakempi.view.palette import in_24_bits
from fakempi.view.replay import frame, frames, steps
from fakempi.view.summary import compare

VIEWS = (*NAMES, "replay")


def view(options: Namespace) -> int:
    """Show a trace, or two traces next to each other; returns the exit code."""
    names = [name.strip() for name in options.what.split(",")] if options.what else []
    for name in names:
        if name not in VIEWS:
            raise parse.unknown_name("view", name, VIEWS)
    if len(options.files) > 2:
        raise parse.usage_error(f"{len(options.files)} files are too many: give one to show it, or two to compare them.")
    for option, path in (("--svg", options.svg), ("--html", options.html)):
        if path and not path.endswith(f".{option[2:]}"):
            raise parse.usage_error(f"{option} {path}: the file's name must end in .{option[2:]}.")
    traces = [load(_existing(file)) for file in options.files]
    names = names or default_views(traces[0])
    if options.window and (start := parse.window(options.window, traces[0].time)[0]) >= traces[0].time > 0:
        raise parse.usage_error(
            f"--window {options.window} starts at {seconds(start)}, but the run ends at {seconds(traces[0].time)}."
        )
    if options.interactive:
        return _browse(traces[0], options)
    if options.figure:
        titles = _titles(options.files) if len(traces) == 2 else ()
        view_figure(traces, names if options.what else ["timeline"], titles, options, check_figure(options))
        if not options.svg and not options.html:
            return 0
    out = console()
    width = out.width = options.width or out.width  # a wider picture is for a file, or for a pager
    if not options.height:
        options.height = _height(out, traces, names, options, width)
    if len(traces) == 2:
        views: list[RenderableType] = [compare(*traces, titles=_titles(options.files), width=width)]
    else:
        views = list(_views(traces[0], names, options, width))
    if options.svg:
        drawings = _drawings(views, traces, names, options)
        Path(options.svg).write_text(to_svg(*_separated(drawings), width=width), encoding="utf-8")
    if options.html:
        Path(options.html).write_text(_page(traces, names if options.what else [], options), encoding="utf-8")
    if not options.svg and not options.html:
        show(out, [_colored(out, picture) for picture in _separated(views)], options.pager)
        if names == ["replay"] and len(traces) == 1:
            _play(out, traces[0], options, width)
    return 0


def _colored(out: Console, picture: RenderableType) -> RenderableType:
    """Return a view with 24-bit colors if the terminal supports them."""
    return in_24_bits(picture) if out.color_system == "truecolor" else picture


def _height(out: Console, traces: Sequence[Trace], names: list[str], options: Namespace, width: int) -> int:
    """Return the number of rows of a timeline: the terminal's height minus the other views."""
    if not out.is_terminal or options.svg or options.html:
        return 24
    others = [name for name in names if name not in ("timeline", "replay")]
    shared = "timeline" in names and len(traces) == 1 and "matrix" not in others
    options.height = 24  # for the other views, whose height is fixed
    return rows_left(out, list(_views(traces[0], others, options, width)) if shared else [])


def _browse(trace: Trace, options: Namespace) -> int:
    if len(options.files) > 1 or options.svg or options.html or options.figure:
        raise parse.usage_error("-i shows one trace in the terminal: omit --svg, --html, --figure and the second file.")
    terminal_viewer()(trace, os.path.basename(options.files[0]))
    return 0


def _page(traces: Sequence[Trace], names: Sequence[str], options: Namespace) -> str:
    """Return the HTML page; the first view in `names` is open at the start."""
    tabs = [name for name in names if name in TABS]
    ranks, window = selection(options, traces[0])
    return page(
        *traces,
        titles=_titles(options.files) if len(traces) == 2 else [os.path.basename(options.files[0])],
        tab=tabs[0] if tabs else "",
        window=window,
        ranks=(min(ranks), max(ranks)) if ranks else None,
        by=options.by,
    )


def _existing(file: str) -> str:
    if not os.path.isfile(file):
        raise parse.usage_error(missing_file(file, f"To record a trace, run: fakempi run -n N --trace {file} SCRIPT"))
    return file


def _titles(files: Sequence[str]) -> tuple[str, str]:
    """Return the file names, with their directories if the names are equal."""
    one, other = (printable(os.path.basename(file)) for file in files)
    return (one, other) if one != other else (printable(files[0]), printable(files[1]))


def _drawings(views: list[Any], traces: Sequence[Trace], names: Sequence[str], options: Namespace) -> list[Any]:
    """Return the views for an SVG file: timelines and matrices as vector graphics instead of characters."""
    if len(traces) == 2:
        end = max(map(shown_end, traces))
        pairs = zip(traces, _titles(options.files), strict=True)
        return [views[0].renderables[0], *(timeline_drawing(trace, end=end, title=title) for trace, title in pairs)]
    ranks, window = selection(options, traces[0])
    start, end = window or (0.0, shown_end(traces[0]))
    makers = {"matrix": lambda: matrix_drawing(traces[0], height=options.height, ranks=ranks)}
    if options.by == "state":
        makers["timeline"] = lambda: timeline_drawing(traces[0], height=options.height, start=start, end=end, ranks=ranks)
    return [makers[name]() if name in makers else view for name, view in zip(names, views, strict=True)]


def _separated(views: list[Any]) -> Iterator[Any]:
    """Yield the views with an empty line between them."""
    for index, view in enumerate(views):
        if index:
            yield ""
        yield view


def _views(trace: Trace, names: list[str], options: Namespace, width: int) -> Iterator[RenderableType]:
    ranks, window = selection(options, trace)
    if "replay" in names and (len(names) > 1 or options.svg or options.html):
        raise parse.usage_error("a replay is shown alone, in the terminal: use --what replay without other views.")
    shown = [name for name in names if name != "replay"]
    return pictures(trace, shown, width=width, height=options.height, ranks=ranks, window=window, by=options.by)


def _play(out: Console, trace: Trace, options: Namespace, width: int) -> None:
    """Play the replay in a terminal, with keys if possible; without a terminal, print five frames."""
    ranks, _ = selection(options, trace)
    height = min(options.height, max(out.height - 7, 8))
    shape: dict[str, Any] = {"width": width, "height": height, "ranks": ranks}
    if not out.is_terminal:
        for picture in frames(trace, 5, **shape):
            out.print(picture)
            out.print()
        return
    play(out, ReplayControls(trace.time, steps(trace)), lambda time: _colored(out, frame(trace, time, **shape)), keyboard())
