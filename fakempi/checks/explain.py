"""The page of each kind of finding: what it is, a program, what is printed, how to mend it. They are in `explanations`."""

from __future__ import annotations

from importlib.resources import files

from fakempi.checks.findings import KINDS


def explanation(kind: str) -> str:
    """The page of a kind, as Markdown."""
    assert kind in KINDS, kind
    return (files("fakempi.checks") / "explanations" / f"{kind}.md").read_text(encoding="utf-8")
