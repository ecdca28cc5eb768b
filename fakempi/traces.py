"""What people do with the record of a run: load it from a file, see it, and be told how it came about.

Here records and pictures are introduced to each other. A picture that is asked for in a program (`run.trace.show()`) goes
to the terminal from here; all others are printed by whoever asked for them.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from fakempi.errors import FindingsError
from fakempi.trace.measures import Measures
from fakempi.trace.record import Trace
from fakempi.trace.record import load as load_record


def load(path: str | os.PathLike[str]) -> Trace:
    """The trace in a file that `Trace.save` wrote, `.json` or `.npz`; it can be shown, measured and saved again.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Trace
        Equal to the one that was saved.

    Examples
    --------
    >>> import fakempi, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fakempi.run(lambda comm: comm.Barrier(), 4, trace=True).trace.save(f"{folder}/t.npz")
    ...     fakempi.load(f"{folder}/t.npz")
    <Trace: 4 ranks, 8 transfers>
    """
    return shown(load_record(path))


def shown(trace: Trace) -> Trace:
    """The same trace, which from now on can `show` itself."""
    trace.painter, trace.page, trace.tables = show, page, tables
    return trace


MOST = 100_000
"""Messages of a run that a notebook shows by itself: more would make the notebook's file large."""


def page(trace: Trace, *, beside: Trace | None = None, framed: bool = False) -> str:
    """A page for browsers, in one file, in which one can look around; or the same in a frame for a notebook.

    Another trace may be beside it, on the same scale.
    """
    from fakempi.view.page.assemble import frame
    from fakempi.view.page.assemble import page as assembled

    if framed and len(trace) > MOST:
        return f"<p>{len(trace):,} messages: <code>trace.save('page.html')</code> makes a page of them.</p>"
    both = [trace] if beside is None else [trace, beside]
    text = assembled(*both, titles=list(map(_title, both)), compact=framed)
    return frame(text) if framed else text


def _title(trace: Trace) -> str:
    """The schedule, if it is one of many; or what was typed."""
    schedule = trace.about.get("schedule")
    if schedule is None:
        return str(trace.about.get("command", ""))
    return f"schedule {schedule['decisions']} {'fails' if schedule['fails'] else 'goes well'}"


def tables(found: Measures) -> str:
    """Measures as a table for a notebook."""
    from fakempi.view.page.assemble import facts_table

    return facts_table(found)


AWAITED = 8
"""As many of the ranks that one waits for as are kept: of 4,096 that miss at a barrier each waits for the same."""


def told(cost: object, findings: Iterable[Any] = (), error: BaseException | None = None) -> dict[str, Any]:
    """What is told of a run beside what happened, in plain values: see `Columns.about`."""
    about: dict[str, Any] = {
        "command": _command(),
        "cost": _model(cost),
        "date": datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
        "versions": {"fakempi": _version(), "Python": platform.python_version()},
        "findings": [{**one.as_record(), "text": str(one)} for one in findings],
    }
    if error is not None and not isinstance(error, FindingsError):  # which says no more than its findings
        about["ended"] = _ended(error)
    return about


def _model(cost: object) -> str:
    """A cost model in words; one of somebody's own may not be able to say."""
    try:
        return str(cost)
    except Exception:
        return type(cost).__name__


def _ended(error: Any) -> dict[str, Any]:
    """How a run ended that was not brought to its end; of a deadlock, who waits for whom."""
    text = str(error)
    headline = text.partition(":")[0].partition("\n")[0]
    ended: dict[str, Any] = {"kind": type(error).__name__, "text": text, "headline": headline}
    if hasattr(error, "stuck"):
        ended |= {"time": float(error.time), "cycle": list(error.cycle), "stuck": [_stuck(one) for one in error.stuck]}
        ended["misses"] = [
            {"rank": miss.rank, "sender": miss.sender, "tag": miss.tag, "but": miss.but} for miss in error.misses[:100]
        ]
    return ended


def _stuck(one: Any) -> dict[str, Any]:
    wants = [{"words": _in_words(want), "awaits": list(want.awaits[:AWAITED])} for want in one.wants[:AWAITED]]
    return {
        "rank": one.rank, "call": one.call, "site": one.site, "since": float(one.since), "polls": one.polls, "wants": wants,
    }  # fmt: skip


def _in_words(want: Any) -> str:
    tag = "any tag" if want.tag is None else f"tag {want.tag}"
    if want.kind == "receive":
        return f"a message from {'any rank' if want.peer is None else f'rank {want.peer}'} with {tag}{want.where}"
    if want.kind == "send":
        return f"rank {want.peer} to receive {want.nbytes} bytes with {tag}{want.where}"
    if want.kind == "meeting":
        ranks = ", ".join(map(str, want.awaits[:AWAITED])) + (", …" if len(want.awaits) > AWAITED else "")
        return f"rank{'s' if len(want.awaits) > 1 else ''} {ranks} to come{want.where}"
    return str(want.where)


def _command() -> str:
    """What was typed; nothing in a notebook, where that is not the program."""
    first = os.path.basename(sys.argv[0]) if sys.argv else ""
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
    what: Sequence[str],
    *,
    width: int | None = None,
    ranks: Sequence[int] | None = None,
    window: tuple[float, float] | None = None,
    console: Any = None,
) -> None:
    """Print pictures, with an empty line between, as wide as the terminal is unless a width is given."""
    from rich.console import Console  # not before somebody looks: it takes longer to import than most runs take

    from fakempi.view.gallery import pictures

    console = console or Console()
    width = width or max(min(console.width, 160), 40)
    for index, picture in enumerate(pictures(trace, what, width=width, ranks=ranks, window=window)):
        if index:
            console.print()
        console.print(picture)
