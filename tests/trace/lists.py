"""The first format of JSON files, in which columns were lists of numbers: it stays readable, and is easy to damage."""

from __future__ import annotations

from typing import Any

from fakempi.trace.files import OLD_TABLES, TABLES
from fakempi.trace.packing import unpacked


def in_lists(head: dict[str, Any]) -> None:
    """The same header in that format."""
    head["format"] = 1
    for name, table in TABLES.items():
        rows = unpacked(head[name], table)
        columns = {column: rows[column].tolist() for column in OLD_TABLES[name].names}
        head[name] = {name: [None if one == float("inf") else one for one in column] for name, column in columns.items()}
