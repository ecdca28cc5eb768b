"""Who holds which block, by rounds: whose data can have reached whom.

A trace does not have the contents of messages. What it has is who can know of whom: after a message its receiver can hold
all that its sender held when it started. For the usual gathering algorithms that is what they do hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from rich.text import Text

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.trace.rounds import depths, rounds
from fakempi.view.rows import fold, names

_KEY = {(1, 0): ("●", "bold green"), (1, 1): ("■", "bright_blue"), (0, 0): ("·", "bright_black")}
"""(held now, held before the round) -> what it looks like"""
_SHADES = "·░▒▓█"
LARGEST, FOLDED = 24, 12
"""As many ranks as are shown one by one, and to how many rows more of them are folded."""
MOST = 16_384
"""Ranks of which it can be said who holds whose block: these take 32 MB a round, and a million would take 125 GB."""


def holdings(trace: Columns) -> Iterator[list[int]]:
    """After each round, from none on, by rank: the set of those whose data it can hold, as the bits of a number."""
    rows = trace.transfer_rows
    reached = depths(trace)
    order = rows["start"].argsort(kind="stable")
    holds = [1 << rank for rank in range(trace.ranks)]
    after = list(holds)
    yield list(after)
    gains: list[list[tuple[int, int]]] = [[] for _ in range(rounds(trace) + 1)]
    turns = reached[order].tolist()
    under_way: list[tuple[float, int, int, int]] = []
    columns = (rows[name][order].tolist() for name in ("source", "dest", "start", "arrived"))
    for turn, (source, dest, start, arrived) in enumerate(zip(*columns, strict=True)):
        while under_way and under_way[0][0] <= start:
            _, _, process, gained = heappop(under_way)
            holds[process] |= gained
        heappush(under_way, (arrived, turn, dest, holds[source]))
        gains[turns[turn]].append((dest, holds[source]))
    for each in gains[1:]:
        for dest, gained in each:
            after[dest] |= gained
        yield list(after)


def blocks(trace: Columns, *, width: int = 80, title: str = "") -> Text:
    """A row for each rank, a column for each round: ● is new, ■ was there before, · is missing.

    With many ranks, rows and blocks are folded, and shades say how much of it is there; with many rounds, some are shown.
    """
    p = trace.ranks
    if p > MOST:
        raise TraceError(f"blocks: who holds whose block is shown for at most {MOST:,} ranks, and here are {p:,}.")
    groups = fold(range(p), p if p <= LARGEST else FOLDED)
    size = len(groups)
    label = max(4, *map(len, names(groups))) + 1
    cell = max(size, 5) + 1
    if width < label + 2 * cell:
        raise TraceError(f"blocks: {width} columns are too few; there must be at least {label + 2 * cell}.")
    shown = _chosen(rounds(trace) + 1, (width - label) // cell)
    needed = {each for k in shown for each in (k - 1, k)}
    after = {k: held for k, held in enumerate(holdings(trace)) if k in needed}
    text = Text(no_wrap=True, overflow="crop")
    if title:
        text.append(f"{title}\n", "bold")
    text.append(f"{'rank':>{label - 1}} " + "".join(f"{k or 'start':<{cell}}" for k in shown).rstrip() + "\n")
    for name, group in zip(names(groups), groups, strict=True):
        text.append(f"{name:>{label - 1}} ")
        for k in shown:
            for block in groups:
                text.append(*_cell(after, k, group, block))
            text.append(" " * (cell - size))
        text.append("\n")
    if size == p:
        for (mark, style), words in zip(_KEY.values(), ("new", "held", "missing"), strict=True):
            text.append(mark, style)
            text.append(f" {words}  ")
        text.append(f"blocks of ranks 0 to {p - 1}, left to right; by round")
    else:
        many = f"{len(groups[0])} ranks"
        text.append(f"{_SHADES} share of the blocks of {many} each that {many} can hold; by round")
    return text


def _cell(after: dict[int, list[int]], k: int, group: Sequence[int], block: Sequence[int]) -> tuple[str, str]:
    """The character for some blocks at some ranks after a round."""
    rank = group[0]
    if len(group) == 1 and len(block) == 1:
        before = after[k - 1][rank] if k else 0
        return _KEY[after[k][rank] >> block[0] & 1, before >> block[0] & 1]
    mask = (1 << len(block)) - 1
    held = sum((after[k][one] >> block[0] & mask).bit_count() for one in group)
    level = -(-held * (len(_SHADES) - 1) // (len(group) * len(block)))
    return _SHADES[level], "bright_blue" if level else "bright_black"


def _chosen(count: int, most: int) -> list[int]:
    """At most so many numbers below count, spread evenly, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(index * (count - 1) / (most - 1)) for index in range(most)})
