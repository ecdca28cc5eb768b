"""Group ranks into the rows of a view, and name the rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.trace.levels import MachineLevel, levels_of, starts

OUTWARD, INWARD = ("┌", "┏", "╔", "▛"), ("├", "╶")
"""Marks of the first row: OUTWARD for a node and the levels around it, INWARD for levels within a node.

Levels for which there is no mark use the last one.
"""
GOES_ON = "│"


def chosen(trace: Columns, ranks: Sequence[int] | None, view: str) -> Sequence[int]:
    """Return the selected ranks, or all ranks if `ranks` is None; raises TraceError if a selected rank does not exist."""
    if ranks is None:
        return range(trace.ranks)
    if not ranks or not all(0 <= rank < trace.ranks for rank in (min(ranks), max(ranks))):
        selected = f"ranks {min(ranks)} to {max(ranks)}" if ranks else "no ranks"
        raise TraceError(f"{view}: {selected} were selected, but the trace has ranks 0 to {trace.ranks - 1}.")
    return ranks


def rows_of(trace: Columns, ranks: Sequence[int] | None, view: str, height: int) -> list[Sequence[int]]:
    """Return the selected ranks in at most `height` groups, which respect the levels of the machine."""
    return fold(chosen(trace, ranks, view), height, levels_of(trace))


def fold(ranks: Sequence[int], height: int, levels: Sequence[MachineLevel] = ()) -> list[Sequence[int]]:
    """Return ranks in at most `height` groups: each is within one part of a level (such as a node) or has whole parts."""
    outer, inner = [ranks], None  # no group has ranks of two outer parts, or a piece of an inner part
    for level in levels:
        bounds = [*starts(ranks, level), len(ranks)]
        if len(bounds) > height + 1:
            inner = level
            break
        outer = [ranks[first:last] for first, last in pairwise(bounds)]
    divided = [starts(part, inner) for part in outer]
    size = -(-sum(map(len, divided)) // height)  # inner parts, or ranks, per group
    while sum(-(-len(each) // size) for each in divided) > height:
        size += 1
    return [
        part[first:last]
        for part, each in zip(outer, divided, strict=True)
        for first, last in pairwise([*each[::size], len(part)])
    ]


def begins(groups: Sequence[Sequence[int]], levels: Sequence[MachineLevel]) -> list[MachineLevel | None]:
    """Return, for each row, the outermost level of which a new part begins in that row; None if no part begins."""
    if not groups or not levels:
        return [None] * len(groups)
    outermost: list[MachineLevel | None] = [levels[0]]
    for before, group in pairwise(groups):
        outermost.append(next((level for level in levels if level.parts[before[-1]] != level.parts[group[0]]), None))
    return outermost


def edges(groups: Sequence[Sequence[int]], levels: Sequence[MachineLevel]) -> list[str]:
    """Return a character for each row: the mark of the level that begins there, or a line; blanks if there are no levels."""
    return [GOES_ON if level is None else mark(level) for level in begins(groups, levels)] if levels else [" "] * len(groups)


def mark(level: MachineLevel) -> str:
    """Return the mark of the first row of a part."""
    return OUTWARD[min(level.distance, 3)] if level.distance >= 0 else INWARD[min(-level.distance, 2) - 1]


def key(groups: Sequence[Sequence[int]], levels: Sequence[MachineLevel]) -> str:
    """Return a legend of the marks; empty if there are no levels."""
    used = {level.name for level in begins(groups, levels) if level}
    shown = [f"{mark(level)} {level.name}" for level in levels if level.name in used]
    return f"{'  '.join(shown)} begins" if shown else ""


def names(groups: Sequence[Sequence[int]]) -> list[str]:
    """Return the names of rows: `3`, `4-7`, or `4…9` if some of these ranks are not in the row."""
    return [_name(group[0], group[-1], len(group)) for group in groups]


def _name(first: int, last: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}{'-' if last - first == count - 1 else '…'}{last}"
