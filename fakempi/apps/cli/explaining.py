"""`fakempi explain`: print the meaning of a kind of finding or a rule of `fakempi lint`, an example program, the fix."""

from __future__ import annotations

import re
from argparse import Namespace

from rich.console import Console
from rich.text import Text

from fakempi.apps.cli.console import console
from fakempi.apps.lint.rules.catalogue import TITLES
from fakempi.apps.lint.rules.catalogue import explanation as rule
from fakempi.core.options import unknown_name
from fakempi.core.reports.explain import explanation
from fakempi.core.reports.findings import KINDS

WIDEST = 100
"""Maximum width of printed text, in columns."""


def explain(options: Namespace) -> int:
    """Print the explanation of a kind of finding, or the list of all kinds; returns the exit code."""
    out, kind = console(), options.kind
    out.width = min(out.width, WIDEST)
    if kind is None:
        for name, meaning in KINDS.items():
            out.print(Text.assemble((f"{name:22}", "bold"), meaning))
        out.print(Text("\nRules of fakempi lint:", "dim"))
        for name, meaning in TITLES.items():
            out.print(Text.assemble((f"{name:22}", "bold"), meaning))
        out.print(Text("\nfakempi explain KIND shows an example program and how to fix it.", "dim"))
        return 0
    if kind.upper() in TITLES:
        print_markdown(out, rule(kind.upper()))
        return 0
    if kind not in KINDS:
        raise unknown_name("kind of finding", kind, KINDS, "fakempi explain")
    print_markdown(out, explanation(kind))
    return 0


def print_markdown(out: Console, page: str) -> None:
    """Print Markdown text: headings in bold, paragraphs wrapped to the console's width, indented code unchanged."""
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
            text = Text()
            for i, part in enumerate(" ".join(paragraph.split()).split("`")):
                text.append(part, "cyan" if i % 2 else "")
            out.print(text)
            out.print()
