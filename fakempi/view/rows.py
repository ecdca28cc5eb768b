"""Ranks as the rows of a picture: folded to as many as there is room for, and what such a row is called."""

from __future__ import annotations

from collections.abc import Sequence

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns


def chosen(trace: Columns, ranks: Sequence[int] | None, view: str) -> Sequence[int]:
    """The ranks that were asked for, which must be there, or all of them."""
    if ranks is None:
        return range(trace.ranks)
    if not ranks or not all(0 <= rank < trace.ranks for rank in (min(ranks), max(ranks))):
        words = f"ranks {min(ranks)} to {max(ranks)}" if ranks else "no ranks"
        raise TraceError(f"{view}: {words} were asked for, but the trace has ranks 0 to {trace.ranks - 1}.")
    return ranks


def fold(ranks: Sequence[int], height: int) -> list[Sequence[int]]:
    """Ranks in as many groups as there are rows, all of one size but the last."""
    size = -(-len(ranks) // height)
    return [ranks[first : first + size] for first in range(0, len(ranks), size)]


def names(groups: Sequence[Sequence[int]]) -> list[str]:
    """What each row is called: `3`, `4-7`, or `4…9` if some between are not there."""
    return [_name(group[0], group[-1], len(group)) for group in groups]


def _name(first: int, last: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}{'-' if last - first == count - 1 else '…'}{last}"
