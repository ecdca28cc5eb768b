"""`fakempi view`: pictures of a trace, in the terminal or in a file."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.live import Live

from fakempi import options as typed
from fakempi.cli.console import console
from fakempi.errors import printable
from fakempi.trace.record import Trace, load
from fakempi.view.blocks import blocks
from fakempi.view.critical import critical_path
from fakempi.view.export import to_html, to_svg
from fakempi.view.matrix import matrix
from fakempi.view.replay import frames
from fakempi.view.summary import compare, summary
from fakempi.view.timeline import timeline
from fakempi.view.waits import wait_states

VIEWS = ("summary", "timeline", "matrix", "waits", "critical", "blocks", "replay")
USUAL = "summary,timeline,waits"
SECONDS = 6.0
"""How long a replay takes."""
FRAMES = 120


def view(options: Namespace) -> int:
    """Show a trace, or two of them beside each other."""
    names = [name.strip() for name in (options.what or USUAL).split(",")]
    for name in names:
        if name not in VIEWS:
            raise typed.unknown("view", name, VIEWS)
    if len(options.files) > 2:
        raise typed.wrong(f"{len(options.files)} files are too many: one is shown, two are compared.")
    traces = [load(_there(file)) for file in options.files]
    out = console()
    width = options.width or out.width
    if len(traces) == 2:
        things: list[RenderableType] = [compare(*traces, titles=_titles(options.files), width=width)]
    else:
        things = list(_pictures(traces[0], names, options, width))
    for path, write in ((options.svg, to_svg), (options.html, to_html)):
        if path:
            Path(path).write_text(write(*_apart(things), width=width), encoding="utf-8")
    if not options.svg and not options.html:
        for thing in _apart(things):
            out.print(thing)
        if names == ["replay"] and len(traces) == 1:
            _play(out, traces[0], options, width)
    return 0


def _there(file: str) -> str:
    if not os.path.isfile(file):
        raise typed.wrong(f"there is no file {file!r}: fakempi run --trace {file} writes one.")
    return file


def _titles(files: Sequence[str]) -> tuple[str, str]:
    """File names, with their folders if they are called the same."""
    one, other = (printable(os.path.basename(file)) for file in files)
    return (one, other) if one != other else (printable(files[0]), printable(files[1]))


def _apart(things: list[RenderableType]) -> Iterator[RenderableType]:
    """With an empty line between."""
    for index, thing in enumerate(things):
        if index:
            yield ""
        yield thing


def _pictures(trace: Trace, names: list[str], options: Namespace, width: int) -> Iterator[RenderableType]:
    ranks = typed.ranks(options.ranks, trace.ranks) if options.ranks else None
    start, end = typed.window(options.window, trace.time) if options.window else (0.0, None)
    height = options.height
    makers: dict[str, Callable[[], RenderableType]] = {
        "summary": lambda: summary(trace, width=width),
        "timeline": lambda: timeline(trace, width=width, height=height, start=start, end=end, ranks=ranks),
        "matrix": lambda: matrix(trace, width=width, height=height, ranks=ranks),
        "waits": lambda: wait_states(trace, width=width),
        "critical": lambda: critical_path(trace, width=width),
        "blocks": lambda: blocks(trace, width=width),
    }
    for name in names:
        if name != "replay":
            yield makers[name]()
        elif len(names) > 1 or options.svg or options.html:
            raise typed.wrong("a replay is played alone, in a terminal: say --what replay.")


def _play(out: Console, trace: Trace, options: Namespace, width: int) -> None:
    """Play it in a terminal; elsewhere write a few moments below each other."""
    ranks = typed.ranks(options.ranks, trace.ranks) if options.ranks else None
    height = min(options.height, max(out.height - 6, 8))
    shape: dict[str, Any] = {"width": width, "height": height, "ranks": ranks}
    if not out.is_terminal:
        for picture in frames(trace, 5, **shape):
            out.print(picture)
            out.print()
        return
    with Live(console=out, auto_refresh=False) as live:
        for picture in frames(trace, FRAMES, **shape):
            live.update(picture, refresh=True)
            time.sleep(SECONDS / FRAMES)
