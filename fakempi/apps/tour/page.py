"""Parse a page of the tour from its Markdown file."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import NamedTuple


class Page(NamedTuple):
    """A title, a text, a program with its file name, commands, and a command for the reader to try.

    The first pages have a command to try. They are the tour; the others are for those who want more.
    """

    title: str
    text: str
    name: str
    code: str
    commands: tuple[str, ...]
    suggestion: str = ""


def pages() -> list[Page]:
    """Return all pages in order."""
    paths = [file for file in files("fakempi.apps.tour").joinpath("pages").iterdir() if file.name.endswith(".md")]
    return [read(file.read_text(encoding="utf-8")) for file in sorted(paths, key=lambda file: file.name)]


def read(text: str) -> Page:
    """Return the page in a Markdown text: `# title`, a text, and blocks `python name.py`, `sh` and `try`, all optional."""
    blocks = {kind: (name, body) for kind, name, body in re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, re.M | re.S)}
    title, prose = text.split("```")[0].removeprefix("# ").split("\n", 1)
    name, code = blocks.get("python", ("", ""))
    commands, suggestion = (blocks.get(kind, ("", ""))[1] for kind in ("sh", "try"))
    return Page(title, " ".join(prose.split()), name, code, tuple(commands.splitlines()), suggestion.strip())
