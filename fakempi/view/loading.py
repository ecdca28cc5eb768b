"""Collect the metadata of traces, and render them: the functions that `trace.renderer` imports by default.

`run.trace.show()` prints to the terminal from here; callers of all other views print them themselves.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from fakempi.errors.plurals import counted
from fakempi.trace.levels import encoded
from fakempi.trace.measures import Measures
from fakempi.trace.record import Trace

if TYPE_CHECKING:
    from rich.console import Console


MAXIMUM = 100_000
"""Messages up to which a notebook embeds the page: more would make the notebook's file large."""


def page(trace: Trace, *, other: Trace | None = None, framed: bool = False) -> str:
    """Return a self-contained interactive HTML page, or the same in a frame for a notebook.

    A second trace is shown on the same time scale.
    """
    from fakempi.view.page.assemble import frame
    from fakempi.view.page.assemble import page as assembled

    if framed and len(trace) > MAXIMUM:
        ranks = counted(trace.ranks, "rank", ",")
        return f"<p>{ranks}, {len(trace):,} messages: use <code>trace.save('page.html')</code> to create a page.</p>"
    traces = [trace] if other is None else [trace, other]
    text = assembled(*traces, titles=list(map(_title, traces)), compact=framed)
    return frame(text, trace.ranks) if framed else text


def _title(trace: Trace) -> str:
    """Return the schedule if it was recorded, otherwise the command."""
    schedule = trace.about.get("schedule")
    if schedule is None:
        return str(trace.about.get("command", ""))
    return f"schedule {schedule['token']} {'fails' if schedule['fails'] else 'passes'}"


def tables(measures: Measures) -> str:
    """Return measures as an HTML table for a notebook."""
    from fakempi.view.page.assemble import facts_table

    return facts_table(measures)


def metadata(
    cost: object, findings: Iterable[Any] = (), places: Iterable[Mapping[str, Hashable]] = ()
) -> dict[str, Any]:
    """Return the metadata of a run as JSON values: see `Columns.about`. `places` are the locations of ranks 0, 1, ..."""
    about: dict[str, Any] = {
        "command": _command(),
        "cost": _model(cost),
        "date": datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
        "versions": {"fakempi": _version(), "Python": platform.python_version()},
        "findings": [_record(one) for one in findings],
    }
    if levels := encoded(places):
        about["levels"] = levels
    return about


def _record(finding: Any) -> dict[str, Any]:
    """Return a finding as JSON values. For programs that do not know suppressions, a suppressed one is a note."""
    return {**finding.as_record(), "note": finding.note or bool(finding.suppressed), "text": str(finding)}


def _model(cost: object) -> str:
    """Return a cost model as text; `str` may fail for a user-defined model."""
    try:
        return str(cost)
    except Exception:
        return type(cost).__name__


def _command() -> str:
    """Return the command line, or an empty text in a notebook, whose command line is not the program's."""
    directory, first = os.path.split(sys.argv[0] if sys.argv else "")
    if first == "__main__.py":  # python -m fakempi
        first = os.path.basename(directory) or first
    return "" if not first or first.startswith(("ipykernel", "colab")) else shlex.join([first, *sys.argv[1:]])


@cache
def _version() -> str:
    from importlib import metadata  # 20 ms, which only traces need

    try:
        return metadata.version("fakempi")
    except metadata.PackageNotFoundError:  # run from a copy that is not installed
        return "?"


def show(
    trace: Trace,
    what: Sequence[str] = (),
    *,
    width: int | None = None,
    ranks: Sequence[int] | None = None,
    window: tuple[float, float] | None = None,
    console: Console | None = None,
) -> None:
    """Print views with an empty line between them, by default the default ones, as wide as the terminal."""
    from rich.console import Console  # imported late: the import takes longer than most runs

    from fakempi.view.gallery import default_views, pictures

    console = console or Console()
    width = width or max(min(console.width, 160), 40)
    for index, picture in enumerate(pictures(trace, what or default_views(trace), width=width, ranks=ranks, window=window)):
        if index:
            console.print()
        console.print(picture)
