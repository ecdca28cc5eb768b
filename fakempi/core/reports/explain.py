"""Explanations of the kinds of findings, from the files in `explanations`: meaning, example program, output and fix."""

from __future__ import annotations

from importlib.resources import files

from fakempi.core.reports.findings import KINDS


def explanation(kind: str) -> str:
    """Return the explanation of a kind of finding, in Markdown."""
    assert kind in KINDS, kind
    return (files("fakempi.core.reports") / "explanations" / f"{kind}.md").read_text(encoding="utf-8")
