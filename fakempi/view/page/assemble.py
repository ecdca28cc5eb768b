"""Assemble the page: markup, style, scripts and data in one file. Its content security policy forbids network access."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from fakempi.errors import TraceError
from fakempi.errors.plurals import counted
from fakempi.trace.columns import Columns
from fakempi.trace.measures import Measures
from fakempi.view.page.contents import contents
from fakempi.view.page.packing import packed
from fakempi.view.run_end import end_texts
from fakempi.view.summary import EXPLAINED, facts

HERE = Path(__file__).parent
TABS = ("summary", "waits", "matrix", "blocks", "critical", "findings")
_PLACEHOLDER = re.compile(r"<!--([A-Z]+)-->|/\*([A-Z]+)\*/")


def page(
    *traces: Columns,
    titles: Sequence[str] = (),
    tab: str = "",
    window: tuple[float, float] | None = None,
    ranks: tuple[int, int] | None = None,
    by: str = "state",
    compact: bool = False,
) -> str:
    """Return the HTML text of a page with one trace, or with two on the same time scale.

    `tab`, `window`, `ranks` (first and last) and `by` (colors by state, call or wait) are the initial view. `compact` is
    for a frame in a notebook.
    """
    if not 1 <= len(traces) <= 2:
        raise TraceError(f"page: {len(traces)} traces were given; it shows one or two.")
    if tab and tab not in TABS:
        raise TraceError(f"page: tab {tab!r} is unknown. Known: {', '.join(TABS)}.")
    runs = [contents(trace, title) for trace, title in zip(traces, [*titles, "", ""], strict=False)]
    first = {"tab": tab, "window": window, "ranks": ranks, "by": by, "compact": compact}
    data = "".join(
        f'<script type="application/octet-stream" class="run">{packed({**head, "first": first}, columns)}</script>\n'
        for head, columns in runs
    )
    head = runs[0][0]
    definitions = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value, _ in head["facts"])
    parts = {
        "TITLE": escape(" and ".join(one["title"] for one, _ in runs if one["title"]) or "fakempi"),
        "STYLE": _text("page.css"),
        "STATIC": f"<dl>{definitions}</dl>" + "".join(f"<pre>{escape(one)}</pre>" for one in end_texts(traces[0])),
        "DATA": data,
        "SCRIPT": _script(),
    }
    # in one pass: a part may contain the text of a placeholder
    return _PLACEHOLDER.sub(lambda match: parts[match[1] or match[2]], _text("page.html"))


MAX_HEIGHT = 900
"""Pixels: more do not fit on the screens of laptops."""


def frame(text: str, ranks: int) -> str:
    """Return a page in an iframe whose title has the number of ranks, for screen readers and for searches."""
    height = min(460 + 22 * ranks, MAX_HEIGHT)  # 8 ranks need 640 pixels, if each is to have a label
    title = f"A run of fakempi on {counted(ranks, 'rank', ',')}"
    style = "width:100%;border:0;border-radius:8px"
    return f'<iframe srcdoc="{escape(text)}" style="{style}" height="{height}" title="{title}"></iframe>'


def facts_table(measures: Measures) -> str:
    """Return an HTML table of the scalar measures of a run with their explanations."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td>"
        f"<td style='text-align:left;opacity:.65'>{escape(EXPLAINED.get(name, ''))}</td></tr>"
        for name, value in facts(measures)
    )
    return f"<table>{rows}</table>"


@cache
def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Return all scripts in the order of their numbers."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(HERE.glob("[0-9]*.js")))
