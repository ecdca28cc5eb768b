"""Whether what was read from a file is a trace: every rank, time, size, number and name in it makes sense.

A file may come from anywhere. Views rely on what is checked here, so that none of them runs for ever, or out of a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fakempi.errors import TraceError
from fakempi.trace.columns import NEVER, Columns, Rows

LATEST = 1e100
"""Seconds, as in a run."""

MOST_RANKS = 10_000_000
LONGEST_NAME = 10_000
"""Letters."""

OPEN = {("transfers", "awaited"), ("regions", "end")}
"""Times of what need not have happened."""


def check_head(head: Any) -> None:
    """Lists of numbers and names, before anything is made of them."""
    if not isinstance(head, dict) or not all(isinstance(head.get(name), list) for name in ("clocks", "calls", "names")):
        raise TraceError("clocks, calls and names should be lists")
    if len(head["clocks"]) > MOST_RANKS:
        raise TraceError(f"it has {len(head['clocks']):,} ranks, and there can be at most {MOST_RANKS:,}")
    if not set(map(type, head["clocks"])) <= {int, float}:
        raise TraceError("clocks should be numbers")
    for call in head["calls"]:
        if not (isinstance(call, list) and list(map(type, call)) == [str, str, int] and 0 <= call[2] < 2**31):
            raise TraceError(f"{str(call)[:80]!r} is not a call: its name, its file and its line")
    for name in (*head["names"], *(text for call in head["calls"] for text in call[:2])):
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            raise TraceError(f"{str(name)[:80]!r} is not a name")


def check(trace: Columns) -> None:
    """Numbers that mean something elsewhere must mean something that is there."""
    if not trace.clocks:
        raise TraceError("it has no ranks")
    clocks = np.array(trace.clocks)
    if not np.all((clocks >= 0) & (clocks <= LATEST)):
        raise TraceError(f"{clocks[~((clocks >= 0) & (clocks <= LATEST))][0]} is not the time of a clock")
    calls, names, ranks = len(trace.calls), len(trace.names), trace.ranks
    any_number = 2**31
    _check_rows("transfers", trace.transfer_rows, {
        "source": (0, ranks), "dest": (0, ranks), "call": (-1, calls), "receive_call": (-1, calls), "nbytes": (0, 2**62),
        "context": (0, any_number), "tag": (-any_number, any_number), "region": (-1, len(trace.region_rows)),
    })  # fmt: skip
    _check_rows("computes", trace.compute_rows, {"rank": (0, ranks), "call": (-1, calls)})
    _check_rows("regions", trace.region_rows, {
        "rank": (0, ranks), "name": (0, names), "algorithm": (0, names), "call": (-1, calls), "lane": (0, any_number),
        "nbytes": (0, 2**62), "context": (0, any_number), "number": (-any_number, any_number), "root": (-1, ranks),
        "parent": (-1, len(trace.region_rows)),
    })  # fmt: skip
    parents = trace.region_rows["parent"]
    late = np.flatnonzero(parents >= np.arange(len(parents)))
    if len(late):
        raise TraceError(f"region {late[0]} is in region {parents[late[0]]}, which was entered later")


def _check_rows(table: str, rows: Rows, limits: Mapping[str, tuple[int, int]]) -> None:
    for column in rows.dtype.names or ():
        values = rows[column]
        if column in limits:
            low, high = limits[column]
            wrong = (values < low) | (values >= high)
            words = f"is not from {low} to below {high}"
        else:
            fine = (values >= 0) & (values <= LATEST)
            wrong = ~(fine | (values == NEVER)) if (table, column) in OPEN else ~fine
            words = "is not a time"
        if wrong.any():
            raise TraceError(f"{column} {values[wrong][0]} of {table} {words}")
