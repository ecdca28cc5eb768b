"""`fakempi explain`: what a kind of finding means, with a program that has it, and how to mend it."""

from __future__ import annotations

import re

from rich.console import Console
from rich.text import Text

from fakempi.checks.explain import explanation
from fakempi.checks.findings import KINDS
from fakempi.cli.console import console
from fakempi.options import unknown

WIDEST = 100
"""Columns of a text that is easy to read."""


def explain(kind: str | None) -> int:
    """Print the page of a kind, or the list of kinds."""
    out = console()
    out.width = min(out.width, WIDEST)
    if kind is None:
        for name, means in KINDS.items():
            out.print(Text.assemble((f"{name:22}", "bold"), means))
        out.print(Text("\nfakempi explain KIND shows a program that has it, and how to mend it.", "dim"))
        return 0
    if kind not in KINDS:
        raise unknown("kind of finding", kind, KINDS)
    print_page(out, explanation(kind))
    return 0


def print_page(out: Console, page: str) -> None:
    """Headings in bold, paragraphs as wide as the page, and what is indented as it stands."""
    for paragraph in re.split(r"\n\n(?!    )|\n\n(?=    )", page.rstrip()):
        if paragraph.startswith("#"):
            out.print(Text(paragraph.lstrip("# "), "bold"))
            out.print()
        elif paragraph.startswith("    "):
            for line in paragraph.splitlines():
                style = "green" if line.startswith("    $ ") else "cyan"
                out.print(Text(line, style), soft_wrap=True)
            out.print()
        else:
            words = Text()
            for i, part in enumerate(" ".join(paragraph.split()).split("`")):
                words.append(part, "cyan" if i % 2 else "")
            out.print(words)
            out.print()
