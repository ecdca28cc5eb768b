"""A sweep as records for other programs, in the model's seconds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from fakempi.compare.sweep import Sweep

FIELDS = (
    "operation", "kind", "algorithm", "p", "q", "bytes", "distribution", "seconds", "how",
    "claimed", "measured", "differ", "bound", "refused", "cost",
)  # fmt: skip


def rows(*sweeps: Sweep) -> list[dict[str, Any]]:
    """A record for each algorithm and column.

    Parameters
    ----------
    *sweeps
        What `sweep` has made.

    Returns
    -------
    list
        Dictionaries. `seconds` are those that the table shows, and `how` says whether they are "claimed" or "measured";
        what is not known is None. `differ` is whether claim and measurement do, where there are both.
    """
    return [
        {
            "operation": made.operation,
            "kind": made.kind,
            "algorithm": f"{name}: {figure.taken}" if figure.taken else name,
            "p": column.p,
            "q": column.q,
            "bytes": column.nbytes,
            "distribution": made.distribution,
            "seconds": _plain(figure.seconds),
            "how": figure.how,
            "claimed": _plain(figure.claimed),
            "measured": _plain(figure.measured),
            "differ": figure.differ,
            "bound": _plain(column.bound),
            "refused": figure.refused,
            "cost": made.cost,
        }
        for made in sweeps
        for column in made.columns
        for name, figure in column.figures.items()
    ]


def _plain(time: Any) -> float | None:
    return None if time is None else float(time)


def to_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """With a line of names first; what is not known is empty."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(FIELDS)
    lines.writerows([_cell(record[field]) for field in FIELDS] for record in records)
    return file.getvalue()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value  # None is empty


def to_json(records: Sequence[Mapping[str, Any]]) -> str:
    """A list of objects."""
    return json.dumps(records, indent=1) + "\n"
