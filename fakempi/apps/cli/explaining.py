"""`fakempi explain`: print the meaning of a finding, an error or a rule of `fakempi lint`, a wrong and a right program."""

from __future__ import annotations

import re
from argparse import Namespace

from rich.console import Console
from rich.text import Text

from fakempi.apps.cli.console import console, prose
from fakempi.apps.lint.rules.catalogue import TITLES
from fakempi.apps.lint.rules.catalogue import explanation as rule
from fakempi.core.options import unknown_name
from fakempi.core.reports.error_kinds import ERRORS
from fakempi.core.reports.explain import TOPICS, explanation, topic
from fakempi.core.reports.findings import KINDS

WIDEST = 100
"""Maximum width of printed text, in columns."""


def explain(options: Namespace) -> int:
    """Print the explanation of a kind of finding or error, or the list of all kinds; returns the exit code."""
    out, name = console(), options.kind
    out.width = min(out.width, WIDEST)
    if name is None:
        titled = {"Findings: the run continues": KINDS, "Errors: the run ends": ERRORS, "Rules of fakempi lint": TITLES}
        for title, kinds in titled.items():
            out.print(Text(title, "dim"))
            for kind, meaning in kinds.items():
                out.print(Text.assemble((f"{kind:22}", "bold"), meaning))
            out.print()
        out.print(Text("fakempi explain KIND (or ERR_ROOT, ...) shows a wrong program and a corrected one.", "dim"))
        return 0
    if name.upper() in TITLES:
        print_markdown(out, rule(name.upper()))
        return 0
    kind = topic(name)
    if not kind:
        raise unknown_name("kind of finding or error", name, TOPICS, "fakempi explain")
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
            out.print(prose(paragraph))
            out.print()
