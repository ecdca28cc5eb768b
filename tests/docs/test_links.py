"""Links lead somewhere: files that are there, pages that are made, headings that they have."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

import pytest

from docs.hooks import site

ROOT = Path(__file__).parents[2]
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md", "RELEASING.md", "SECURITY.md")
FILES = [ROOT / name for name in BESIDE] + sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")


@cache
def made() -> dict[str, str]:
    """Pages that are made when the site is built."""
    return {f"docs/{path}": text for path, text in site.pages().items()}


def headings(text: str) -> set[str]:
    """What their anchors are called."""
    words = re.findall(r"^#+ (.*)$", "".join(part for odd, part in site.parts(text) if not odd), re.MULTILINE)
    plain = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", word) for word in words]
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", word).strip().lower()) for word in plain}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(file: Path) -> None:
    """In blocks of code nothing is a link."""
    text, here = file.read_text(encoding="utf-8"), file.relative_to(ROOT).parent.as_posix()
    lost: list[str] = []
    for odd, part in site.parts(text):
        for path, anchor in () if odd else LINK.findall(part):
            target = posixpath.normpath(posixpath.join(here, path)) if path else file.relative_to(ROOT).as_posix()
            if target not in made() and not (ROOT / target).exists():
                lost.append(target)
            elif anchor and target.endswith(".md"):
                there = made().get(target) or (ROOT / target).read_text(encoding="utf-8")
                lost += [f"{target}#{anchor}"] * (anchor not in headings(there))
    assert lost == []


def test_links_out_of_the_folder_are_pages_of_the_site() -> None:
    """As they stand in a file they work on a code host; the site has a page of each."""
    text = "[a](../demos/01_hello.py) [b](../README.md) [c](../benchmarks/ring.py) [d](tutorial.md) `](../x)`\n"
    assert site.redirected("index.md", text) == (
        "[a](demos/01_hello.md) [b](index.md) [c](files/benchmarks/ring.py.md) [d](tutorial.md) `](../x)`\n"
    )
    assert site.redirected("files/CONTRIBUTING.md", "[a](CHANGELOG.md)") == "[a](CHANGELOG.md)"
    assert site.redirected("papers/kang.md", "```sh\n[a](../../LICENSE)\n```\n") == "```sh\n[a](../../LICENSE)\n```\n"
