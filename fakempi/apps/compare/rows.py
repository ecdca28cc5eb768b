"""Convert a sweep to records, CSV and JSON. Times are in modeled seconds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fakempi.apps.compare.measurements import Measurements
from fakempi.apps.compare.sweep import Sweep

FIELDS = (
    "operation", "kind", "algorithm", "p", "q", "bytes", "distribution", "seconds", "how",
    "claimed", "emulated", "differ", "bound", "refused", "cost", "dtype", "itemsize", "parameters", "equals", "skipped",
)  # fmt: skip

MEASURED = "measured"
"""The last field of records with measured times."""

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


def with_measured(sweeps: Sequence[Sweep], measurements: Measurements | None) -> list[dict[str, Cell]]:
    """Return the records of several sweeps; with measurements, each has the measured time, or None if there is none."""
    if measurements is None:
        return rows(*sweeps)
    records: list[dict[str, Cell]] = []
    for sweep in sweeps:
        for column in sweep.columns:
            for name, record in zip(column.case_times, sweep.records(column), strict=True):
                where = name, column.p, column.q, column.nbytes, sweep.distribution
                records.append({**record, MEASURED: measurements.seconds.get(where)})
    return records


def to_csv(records: Sequence[Mapping[str, Cell]]) -> str:
    """Return CSV text with a header; unknown values are empty."""
    fields = [*FIELDS, *[MEASURED] * any(MEASURED in record for record in records)]
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(fields)
    lines.writerows([_cell(record[field]) for field in fields] for record in records)
    return file.getvalue()


def _cell(value: Cell) -> Cell:
    return str(value).lower() if isinstance(value, bool) else value  # None is empty


def to_json(records: Sequence[Mapping[str, Cell]]) -> str:
    """Return JSON text: a list of objects."""
    return json.dumps(records, indent=1) + "\n"
