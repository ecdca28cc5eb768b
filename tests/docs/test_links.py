"""Links point to existing files, generated pages and existing headings."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

from docs.hooks import site
from tests.helpers.loops import for_each

ROOT = Path(__file__).parents[2]
ROOT_FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md", "RELEASING.md", "SECURITY.md")
FILES = [ROOT / name for name in ROOT_FILES] + sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")


@cache
def generated_pages() -> dict[str, str]:
    """Pages that are generated when the site is built, by path."""
    return {f"docs/{path}": text for path, text in site.pages().items()}


def headings(text: str) -> set[str]:
    """The anchors of the headings of a text."""
    words = re.findall(r"^#+ (.*)$", "".join(part for odd, part in site.parts(text) if not odd), re.MULTILINE)
    plain = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", word) for word in words]
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", word).strip().lower()) for word in plain}


@for_each("file", FILES)
def test_every_link_has_a_target(file: Path) -> None:
    """Code blocks contain no links."""
    text, here = file.read_text(encoding="utf-8"), file.relative_to(ROOT).parent.as_posix()
    broken: list[str] = []
    for odd, part in site.parts(text):
        for path, anchor in () if odd else LINK.findall(part):
            target = posixpath.normpath(posixpath.join(here, path)) if path else file.relative_to(ROOT).as_posix()
            if target not in generated_pages() and not (ROOT / target).exists():
                broken.append(target)
            elif anchor and target.endswith(".md"):
                there = generated_pages().get(target) or (ROOT / target).read_text(encoding="utf-8")
                broken += [f"{target}#{anchor}"] * (anchor not in headings(there))
    assert broken == []


def test_links_to_repository_files_are_redirected_to_pages_of_the_site() -> None:
    """In the file such links work on a code host; the site has a page for each target."""
    text = "[a](../demos/01_hello.py) [b](../README.md) [c](../benchmarks/ring.py) [d](tutorial.md) `](../x)`\n"
    assert site.redirected("index.md", text) == (
        "[a](demos/01_hello.md) [b](index.md) [c](files/benchmarks/ring.py.md) [d](tutorial.md) `](../x)`\n"
    )
    assert site.redirected("files/CONTRIBUTING.md", "[a](CHANGELOG.md)") == "[a](CHANGELOG.md)"
    assert site.redirected("papers/kang.md", "```sh\n[a](../../LICENSE)\n```\n") == "```sh\n[a](../../LICENSE)\n```\n"
