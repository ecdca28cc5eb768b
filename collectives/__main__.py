"""`python -m collectives`: print the catalogue as a table, with the claims of every algorithm."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser

from collectives.entries import CATALOGUE
from collectives.loading import origin

COLUMNS = ("Rounds", "Sent per rank", "Scratch", "Time", "Fits")
LEGEND = (
    "p ranks, m bytes, n segments; a message of k bytes takes t_s + k t_w, combining k bytes k c; "
    "one send and one receive at a time"
)


def table() -> str:
    """Return one line per algorithm, with the first clause of each line of its card."""
    rows = [("operation", "algorithm", *(column.lower() for column in COLUMNS))]
    for algorithm in CATALOGUE:
        kind, operation = algorithm.kind, algorithm.operation
        shown = operation if kind in ("intra", operation) else f"{kind} {operation}"
        card, name = algorithm.card, f"{algorithm.name} ({origin(algorithm)})" if origin(algorithm) else algorithm.name
        rows.append((shown, name, *(card.get(column, "").split(";")[0] for column in COLUMNS)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", LEGEND])


if __name__ == "__main__":
    ArgumentParser(
        "python -m collectives", description="Print all algorithms with their claims.",
        epilog="python -m collectives.measure --help explains how to measure algorithms under mpiexec.",
    ).parse_args()  # fmt: skip
    try:
        print(table(), flush=True)
    except BrokenPipeError:  # the reader closed the pipe, for example `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
