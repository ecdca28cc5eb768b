"""A station of the tour, read from its Markdown file."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import NamedTuple


class Page(NamedTuple):
    """A title, words, a program with the name of its file, and the commands that are typed."""

    title: str
    words: str
    name: str
    code: str
    commands: tuple[str, ...]


def pages() -> list[Page]:
    """All stations, in order."""
    found = [file for file in files("fakempi.tour").joinpath("pages").iterdir() if file.name.endswith(".md")]
    return [read(file.read_text(encoding="utf-8")) for file in sorted(found, key=lambda file: file.name)]


def read(text: str) -> Page:
    """A page as it is written: `# title`, words, a block of `python name.py`, and, if there are commands, one of `sh`."""
    blocks = {kind: (name, body) for kind, name, body in re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, re.M | re.S)}
    title, words = text.split("```")[0].removeprefix("# ").split("\n", 1)
    name, code = blocks["python"]
    _, commands = blocks.get("sh", ("", ""))
    return Page(title, " ".join(words.split()), name, code, tuple(commands.splitlines()))
