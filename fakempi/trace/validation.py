"""Check that the contents of a file are a trace: every rank, time, size, index and name is in range.

A file may have any contents. Views rely on these checks; without them, a view could loop endlessly or use an invalid index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from fakempi.errors import TraceError
from fakempi.trace.columns import NEVER, Columns, Rows

MAX_TIME = 1e100
"""Latest time in seconds, as in a run."""

MAX_RANKS = 2**21
"""Maximum number of ranks: with more of them, checking and drawing would take minutes."""
MAX_NAMES = 2**21
"""Maximum number of names of regions, and of calls."""
MAX_NAME_LENGTH = 10_000
"""Maximum number of characters of a name."""

_CLOCKS = re.compile(r'"clocks"\s*:\s*\[')

MAY_BE_NEVER = {("transfers", "awaited"), ("regions", "end")}
"""Columns in which a time may be NEVER."""


def check_rank_count(text: str) -> None:
    """Raise TraceError if a trace has too many ranks, before its text is parsed, which takes seconds if it is long."""
    for match in _CLOCKS.finditer(text):
        end = text.find("]", match.end())
        clocks = text.count(",", match.end(), len(text) if end < 0 else end) + 1
        if clocks > MAX_RANKS:
            raise TraceError(f"it has {clocks:,} ranks; the maximum is {MAX_RANKS:,}")


def check_head(head: Any) -> None:
    """Raise TraceError if clocks, calls and names are not lists of numbers, calls and names."""
    if not isinstance(head, dict) or not all(isinstance(head.get(name), list) for name in ("clocks", "calls", "names")):
        raise TraceError("clocks, calls and names must be lists")
    if len(head["clocks"]) > MAX_RANKS:
        raise TraceError(f"it has {len(head['clocks']):,} ranks; the maximum is {MAX_RANKS:,}")
    for name in ("calls", "names"):
        if len(head[name]) > MAX_NAMES:
            raise TraceError(f"it has {len(head[name]):,} {name}; the maximum is {MAX_NAMES:,}")
    if not set(map(type, head["clocks"])) <= {int, float}:
        raise TraceError("clocks must be numbers")
    for call in head["calls"]:
        if not (isinstance(call, list) and list(map(type, call)) == [str, str, int] and 0 <= call[2] < 2**31):
            raise TraceError(f"{str(call)[:80]!r} is not a call (name, file, line)")
    for name in (*head["names"], *(text for call in head["calls"] for text in call[:2])):
        if not isinstance(name, str) or len(name) > MAX_NAME_LENGTH:
            raise TraceError(f"{str(name)[:80]!r} is not a name")


def check(trace: Columns) -> None:
    """Check that every index refers to an existing row."""
    if not trace.clocks:
        raise TraceError("it has no ranks")
    clocks = np.array(trace.clocks)
    if not np.all((clocks >= 0) & (clocks <= MAX_TIME)):
        raise TraceError(f"{clocks[~((clocks >= 0) & (clocks <= MAX_TIME))][0]} is not a valid clock")
    calls, names, ranks = len(trace.calls), len(trace.names), trace.ranks
    any_number = 2**31
    _check_rows("transfers", trace.transfer_rows, {
        "source": (0, ranks), "dest": (0, ranks), "call": (0, calls), "receive_call": (0, calls), "nbytes": (0, 2**62),
        "context": (0, any_number), "tag": (-any_number, any_number), "region": (-1, len(trace.region_rows)),
        "protocol": (0, 3),
    })  # fmt: skip
    _check_rows("computes", trace.compute_rows, {"rank": (0, ranks), "call": (0, calls)})
    _check_rows("regions", trace.region_rows, {
        "rank": (0, ranks), "name": (0, names), "algorithm": (0, names), "call": (0, calls), "lane": (0, any_number),
        "nbytes": (0, 2**62), "context": (0, any_number), "number": (-any_number, any_number), "root": (-1, ranks),
        "parent": (-1, len(trace.region_rows)),
    })  # fmt: skip
    parents = trace.region_rows["parent"]
    late = np.flatnonzero(parents >= np.arange(len(parents)))
    if len(late):
        raise TraceError(f"region {late[0]} has the parent {parents[late[0]]}, which does not precede it")


def _check_rows(table: str, rows: Rows, limits: Mapping[str, tuple[int, int]]) -> None:
    for column in rows.dtype.names or ():
        values = rows[column]
        if column in limits:
            low, high = limits[column]
            wrong = (values < low) | (values >= high)
            problem = f"is not in the range {low} to {high - 1}"
        else:
            valid = (values >= 0) & (values <= MAX_TIME)
            wrong = ~(valid | (values == NEVER)) if (table, column) in MAY_BE_NEVER else ~valid
            problem = "is not a time"
        if wrong.any():
            raise TraceError(f"{column} {values[wrong][0]} of {table} {problem}")
