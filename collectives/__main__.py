"""`python -m collectives`: the catalogue as a table, each algorithm with its claims."""

from __future__ import annotations

import os
import sys

from collectives.entries import CATALOGUE
from collectives.loading import origin

COLUMNS = ("Rounds", "Sent per rank", "Scratch", "Time", "Fits")
LEGEND = (
    "p ranks, m bytes, n segments; a message of k bytes takes t_s + k t_w, combining k bytes k c; "
    "one send and one receive at a time"
)


def table() -> str:
    """One line per algorithm: the first clause of each line of its card, in columns as wide as they need."""
    rows = [("operation", "algorithm", *(column.lower() for column in COLUMNS))]
    for a in CATALOGUE:
        operation = a.operation if a.kind in ("intra", a.operation) else f"{a.kind} {a.operation}"
        card, name = a.card, f"{a.name} ({origin(a)})" if origin(a) else a.name
        rows.append((operation, name, *(card.get(column, "").split(";")[0] for column in COLUMNS)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", LEGEND])


if __name__ == "__main__":
    try:
        print(table(), flush=True)
    except BrokenPipeError:  # whoever reads has seen enough: `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
