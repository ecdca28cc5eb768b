"""The page as one file: markup, style, scripts and data. It asks the network for nothing, and says so to the browser."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.trace.measures import Measures
from fakempi.view.page.contents import contents
from fakempi.view.page.packing import packed
from fakempi.view.summary import EXPLAINED, facts

HERE = Path(__file__).parent
TABS = ("summary", "waits", "matrix", "blocks", "critical", "findings")


def page(
    *traces: Columns,
    titles: Sequence[str] = (),
    tab: str = "",
    window: tuple[float, float] | None = None,
    ranks: tuple[int, int] | None = None,
    by: str = "state",
    compact: bool = False,
) -> str:
    """A trace, or two on one scale of time, as the text of an HTML file.

    `tab`, `window`, `ranks` (the first and the last) and `by` (what colours it: state, call or wait) are what it shows at
    first. `compact` is for a frame in a notebook.
    """
    if not 1 <= len(traces) <= 2:
        raise TraceError(f"page: {len(traces)} traces were given; it shows one, or two on one scale.")
    if tab and tab not in TABS:
        raise TraceError(f"page: there is no tab {tab!r}; there are {', '.join(TABS)}.")
    runs = [contents(trace, title) for trace, title in zip(traces, [*titles, "", ""], strict=False)]
    first = {"tab": tab, "window": window, "ranks": ranks, "by": by, "compact": compact}
    data = "".join(
        f'<script type="application/octet-stream" class="run">{packed({**head, "first": first}, columns)}</script>\n'
        for head, columns in runs
    )
    head = runs[0][0]
    words = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value, _ in head["facts"])
    told = [head["ended"]["text"]] if head["ended"] else [finding["text"] for finding in head["findings"]]
    parts = {
        "TITLE": escape(" and ".join(one["title"] for one, _ in runs if one["title"]) or "fakempi"),
        "STYLE": _text("page.css"),
        "STATIC": f"<dl>{words}</dl>" + "".join(f"<pre>{escape(one)}</pre>" for one in told),
        "DATA": data,
        "SCRIPT": _script(),
    }
    text = _text("page.html")
    for name, part in parts.items():
        text = text.replace(f"<!--{name}-->", part, 1).replace(f"/*{name}*/", part, 1)
    return text


def frame(text: str, height: int = 480) -> str:
    """A page inside of another one."""
    look = "width:100%;border:0;border-radius:8px"
    return f'<iframe srcdoc="{escape(text)}" style="{look}" height="{height}" title="A run of fakempi"></iframe>'


def facts_table(found: Measures) -> str:
    """The plain numbers of a run, with what they mean."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td>"
        f"<td style='text-align:left;opacity:.65'>{escape(EXPLAINED.get(name, ''))}</td></tr>"
        for name, value in facts(found)
    )
    return f"<table>{rows}</table>"


@cache
def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """All scripts in the order of their numbers."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(HERE.glob("[0-9]*.js")))
