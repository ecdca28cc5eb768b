"""`fakempi view`: pictures of a trace, in the terminal or in a file."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from fakempi import options as typed
from fakempi.cli.console import console
from fakempi.cli.exploring import explorer
from fakempi.cli.keyboard import keyboard
from fakempi.cli.paging import rows_left, show
from fakempi.cli.playing import Player, play
from fakempi.errors import printable
from fakempi.trace.record import Trace, load
from fakempi.view.drawing import matrix_drawing, timeline_drawing
from fakempi.view.export import to_svg
from fakempi.view.gallery import NAMES, pictures
from fakempi.view.numbers import seconds
from fakempi.view.page.assemble import TABS, page
from fakempi.view.palette import in_24_bits
from fakempi.view.replay import frame, frames, steps
from fakempi.view.summary import compare

VIEWS = (*NAMES, "replay")
USUAL = "summary,timeline,waits"


def view(options: Namespace) -> int:
    """Show a trace, or two of them beside each other."""
    names = [name.strip() for name in (options.what or USUAL).split(",")]
    for name in names:
        if name not in VIEWS:
            raise typed.unknown("view", name, VIEWS)
    if len(options.files) > 2:
        raise typed.wrong(f"{len(options.files)} files are too many: one is shown, two are compared.")
    for option, path in (("--svg", options.svg), ("--html", options.html)):
        if path and not path.endswith(f".{option[2:]}"):
            raise typed.wrong(f"{option} {path}: the file's name must end in .{option[2:]}.")
    traces = [load(_there(file)) for file in options.files]
    if options.window and (start := typed.window(options.window, traces[0].time)[0]) >= traces[0].time > 0:
        ends = f"the run ends at {seconds(traces[0].time)}"
        raise typed.wrong(f"--window {options.window}: {ends}, which is no later than {seconds(start)}.")
    if options.interactive:
        return _explore(traces[0], options)
    out = console()
    width = options.width or out.width
    if not options.height:
        options.height = _height(out, traces, names, options, width)
    if len(traces) == 2:
        things: list[RenderableType] = [compare(*traces, titles=_titles(options.files), width=width)]
    else:
        things = list(_pictures(traces[0], names, options, width))
    if options.svg:
        Path(options.svg).write_text(to_svg(*_apart(_drawn(things, traces, names, options)), width=width), encoding="utf-8")
    if options.html:
        Path(options.html).write_text(_page(traces, names if options.what else [], options), encoding="utf-8")
    if not options.svg and not options.html:
        show(out, [_coloured(out, thing) for thing in _apart(things)], options.pager)
        if names == ["replay"] and len(traces) == 1:
            _play(out, traces[0], options, width)
    return 0


def _coloured(out: Console, thing: RenderableType) -> RenderableType:
    """In 24 bits where the terminal has them."""
    return in_24_bits(thing) if out.color_system == "truecolor" else thing


def _height(out: Console, traces: Sequence[Trace], names: list[str], options: Namespace, width: int) -> int:
    """Rows for ranks: what is left of the terminal beside the other views."""
    if not out.is_terminal or options.svg or options.html:
        return 24
    others = [name for name in names if name not in ("timeline", "replay")]
    beside = "timeline" in names and len(traces) == 1 and "matrix" not in others
    options.height = 24  # of what hangs on none
    return rows_left(out, list(_pictures(traces[0], others, options, width)) if beside else [])


def _explore(trace: Trace, options: Namespace) -> int:
    if len(options.files) > 1 or options.svg or options.html:
        raise typed.wrong("-i shows one trace, in the terminal: leave out --svg, --html and the second file.")
    explorer()(trace, os.path.basename(options.files[0]))
    return 0


def _page(traces: Sequence[Trace], names: Sequence[str], options: Namespace) -> str:
    """A page for browsers; what was asked for is what it shows at first."""
    tabs = [name for name in names if name in TABS]
    ranks = typed.ranks(options.ranks, traces[0].ranks) if options.ranks else None
    return page(
        *traces,
        titles=_titles(options.files) if len(traces) == 2 else [os.path.basename(options.files[0])],
        tab=tabs[0] if tabs else "",
        window=typed.window(options.window, traces[0].time) if options.window else None,
        ranks=(min(ranks), max(ranks)) if ranks else None,
        by=options.by,
    )


def _there(file: str) -> str:
    if not os.path.isfile(file):
        raise typed.wrong(f"there is no file {file!r}: fakempi run --trace {file} writes one.")
    return file


def _titles(files: Sequence[str]) -> tuple[str, str]:
    """File names, with their folders if they are called the same."""
    one, other = (printable(os.path.basename(file)) for file in files)
    return (one, other) if one != other else (printable(files[0]), printable(files[1]))


def _drawn(things: list[Any], traces: Sequence[Trace], names: Sequence[str], options: Namespace) -> list[Any]:
    """The same for paper: timelines and matrices are drawn finer than characters are."""
    if len(traces) == 2:
        end = max(trace.time for trace in traces)
        pairs = zip(traces, _titles(options.files), strict=True)
        return [things[0].renderables[0], *(timeline_drawing(trace, end=end, title=title) for trace, title in pairs)]
    ranks = typed.ranks(options.ranks, traces[0].ranks) if options.ranks else None
    start, end = typed.window(options.window, traces[0].time) if options.window else (0.0, traces[0].time)
    makers = {"matrix": lambda: matrix_drawing(traces[0], height=options.height, ranks=ranks)}
    if options.by == "state":
        makers["timeline"] = lambda: timeline_drawing(traces[0], height=options.height, start=start, end=end, ranks=ranks)
    return [makers[name]() if name in makers else thing for name, thing in zip(names, things, strict=True)]


def _apart(things: list[Any]) -> Iterator[Any]:
    """With an empty line between."""
    for index, thing in enumerate(things):
        if index:
            yield ""
        yield thing


def _pictures(trace: Trace, names: list[str], options: Namespace, width: int) -> Iterator[RenderableType]:
    ranks = typed.ranks(options.ranks, trace.ranks) if options.ranks else None
    start, end = typed.window(options.window, trace.time) if options.window else (0.0, None)
    if "replay" in names and (len(names) > 1 or options.svg or options.html):
        raise typed.wrong("a replay is played alone, in a terminal: say --what replay.")
    shown = [name for name in names if name != "replay"]
    return pictures(trace, shown, width=width, height=options.height, ranks=ranks, window=(start, end), by=options.by)


def _play(out: Console, trace: Trace, options: Namespace, width: int) -> None:
    """Play it in a terminal, by keys if there are some; elsewhere write a few moments below each other."""
    ranks = typed.ranks(options.ranks, trace.ranks) if options.ranks else None
    height = min(options.height, max(out.height - 7, 8))
    shape: dict[str, Any] = {"width": width, "height": height, "ranks": ranks}
    if not out.is_terminal:
        for picture in frames(trace, 5, **shape):
            out.print(picture)
            out.print()
        return
    play(out, Player(trace.time, steps(trace)), lambda time: _coloured(out, frame(trace, time, **shape)), keyboard())
