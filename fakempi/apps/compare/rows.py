"""Convert a sweep to records, CSV and JSON. Times are in modeled seconds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fakempi.apps.compare.sweep import Sweep

FIELDS = (
    "operation", "kind", "algorithm", "p", "q", "bytes", "distribution", "seconds", "how",
    "claimed", "emulated", "differ", "bound", "refused", "cost", "dtype", "itemsize", "parameters", "equals", "skipped",
)  # fmt: skip


Cell: TypeAlias = str | int | float | bool | None
"""A value of a record."""


def rows(*sweeps: Sweep) -> list[dict[str, Cell]]:
    """Return the records of several sweeps as one list; see `Sweep`.

    Parameters
    ----------
    *sweeps
        Results of `sweep`.

    Returns
    -------
    list
        Dictionaries, one for each algorithm and column.
    """
    return [record for sweep in sweeps for record in sweep]


def to_csv(records: Sequence[Mapping[str, Cell]]) -> str:
    """Return CSV text with a header; unknown values are empty."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(FIELDS)
    lines.writerows([_cell(record[field]) for field in FIELDS] for record in records)
    return file.getvalue()


def _cell(value: Cell) -> Cell:
    return str(value).lower() if isinstance(value, bool) else value  # None is empty


def to_json(records: Sequence[Mapping[str, Cell]]) -> str:
    """Return JSON text: a list of objects."""
    return json.dumps(records, indent=1) + "\n"
