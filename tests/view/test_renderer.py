"""Traces are rendered by registered functions, by default those of the package view."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import fakempi
from fakempi.trace import renderer
from fakempi.view import loading


def test_a_trace_is_rendered_by_what_was_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal, as a page, and its measures as a table."""
    trace: Any = fakempi.run(lambda comm: comm.Barrier(), 2, trace=True).trace
    calls: list[Any] = []
    own = SimpleNamespace(
        show=lambda *args, **options: calls.append((args, options["ranks"])),
        page=lambda one, framed: f"page of {one.ranks}",
        tables=lambda measures: f"table of {measures.ranks}",
    )
    monkeypatch.setattr(renderer, "_registered", [])
    renderer.register(own)
    trace.show("summary, waits", ranks=[1])
    assert calls == [((trace, ["summary", "waits"]), [1])]
    assert (trace._repr_html_(), trace.measure()._repr_html_()) == ("page of 2", "table of 2")


def test_the_views_render_traces_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are imported when the first trace is shown."""
    monkeypatch.setattr(renderer, "_registered", [])
    assert renderer.renderer() is loading  # type: ignore[comparison-overlap]  # a module has the functions of a Renderer
