"""The catalogue of algorithms: one line per algorithm, or all details of some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

CLAIMS = {0: ("Time",), 100: ("Rounds", "Time"), 140: ("Rounds", "Sent per rank", "Time", "Fits")}
"""Minimum width -> the claims shown, chosen so that nearly every algorithm fits on one line."""
CARD = ("Rounds", "Sent per rank", "Scratch", "Time", "Fits", "Best", "Source")
ROWS = (*CARD[:-2], "Bits", "Best", "Parameters", "Source", "From", "Lacks")


class Entry(NamedTuple):
    """An algorithm: operation, name, the lines of its card by label, parameters, and the package or file it is from.

    The card of a user-defined algorithm may be incomplete or empty.
    """

    operation: str
    name: str
    card: Mapping[str, str]
    parameters: str = ""
    origin: str = ""


def overview(entries: Sequence[Entry], *, width: int = 80) -> Group:
    """Return a table of algorithms by operation, each with the first clause of its claims."""
    labels = next(labels for least, labels in sorted(CLAIMS.items(), reverse=True) if width >= least)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    table.add_column("algorithm", no_wrap=True)
    for label in labels:
        table.add_column(label.lower(), overflow="fold")
    last = ""
    for entry in entries:
        if entry.operation != last:
            if last:
                table.add_row()
            table.add_row(Text(entry.operation, "bold"))
            last = entry.operation
        name = Text.assemble(f"  {entry.name}", (f" ({entry.origin})" if entry.origin else "", "dim"))
        table.add_row(name, *(entry.card.get(label, "").split(";")[0] for label in labels))
    return Group(table)


def cards(entries: Sequence[Entry]) -> Group:
    """Return the complete cards of algorithms."""
    parts: list[Text | Padding] = []
    for entry in entries:
        parts.append(Text(f"{entry.operation} {entry.name}", "bold"))
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        lacking = ", ".join(label for label in CARD if not entry.card.get(label))
        lines = {**entry.card, "Parameters": entry.parameters, "From": entry.origin, "Lacks": lacking}
        for label in ROWS:
            if lines.get(label):
                table.add_row(label.lower(), lines[label])
        parts.append(Padding(table, (0, 0, 1, 2)))
    return Group(*parts)
