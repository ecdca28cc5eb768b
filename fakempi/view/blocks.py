"""Who holds which block, by rounds: whose data can have reached whom.

A trace does not have the contents of messages. What it has is who can know of whom: after a message its receiver can hold
all that its sender held when it started. For the usual gathering algorithms that is what they do hold.
"""

from __future__ import annotations

from heapq import heappop, heappush

from rich.text import Text

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.trace.rounds import depths
from fakempi.view.numbers import percent

_KEY = {(1, 0): ("●", "bold green"), (1, 1): ("■", "bright_blue"), (0, 0): ("·", "bright_black")}
"""(held now, held before the round) -> what it looks like"""


def holdings(trace: Columns) -> list[list[int]]:
    """After each round, from none on, by rank: the set of those whose data it can hold, as the bits of a number."""
    rows = trace.transfer_rows
    rounds = depths(rows)
    order = rows["start"].argsort(kind="stable")
    holds = [1 << rank for rank in range(trace.ranks)]
    found = [list(holds)]
    gains: list[list[tuple[int, int]]] = [[] for _ in range(int(rounds.max(initial=0)) + 1)]
    under_way: list[tuple[float, int, int, int]] = []
    columns = (rows[name][order].tolist() for name in ("source", "dest", "start", "arrived"))
    for turn, (source, dest, start, arrived) in enumerate(zip(*columns, strict=True)):
        while under_way and under_way[0][0] <= start:
            _, _, process, gained = heappop(under_way)
            holds[process] |= gained
        heappush(under_way, (arrived, turn, dest, holds[source]))
        gains[int(rounds[order[turn]])].append((dest, holds[source]))
    for each in gains[1:]:
        after = list(found[-1])
        for dest, gained in each:
            after[dest] |= gained
        found.append(after)
    return found


def blocks(trace: Columns, *, width: int = 80, title: str = "") -> Text:
    """A row for each rank, a column for each round: ● is new, ■ was there before, · is missing.

    With too many ranks for that, how many blocks each holds; with too many rounds, some of them.
    """
    after = holdings(trace)
    p = trace.ranks
    label = max(4, len(str(p - 1))) + 1
    if width < label + 8:
        raise TraceError(f"blocks: {width} columns are too few; there must be at least {label + 8}.")
    whole = p <= 32 and (p + 1) * 2 + label <= width
    cell = max(p if whole else 7, 3) + 1
    shown = _chosen(len(after), max((width - label) // cell, 2))
    text = Text(no_wrap=True, overflow="crop")
    if title:
        text.append(f"{title}\n", "bold")
    text.append(f"{'rank':>{label - 1}} " + "".join(f"{_round(k):<{cell}}" for k in shown).rstrip() + "\n")
    ranks = range(p) if whole or p <= 32 else _chosen(p, 24)
    for rank in ranks:
        text.append(f"{rank:>{label - 1}} ")
        for k in shown:
            before = after[k - 1][rank] if k else 0
            if whole:
                for block in range(p):
                    text.append(*_KEY[after[k][rank] >> block & 1, before >> block & 1])
                text.append(" " * (cell - p))
            else:
                count = bin(after[k][rank]).count("1")
                text.append(f"{percent(count / p):<{cell}}", "green" if count == p else "")
        text.append("\n")
    if len(ranks) < p:
        text.append(f"{len(ranks)} of {p} ranks shown\n", "italic")
    if whole:
        for (mark, style), words in zip(_KEY.values(), ("new", "held", "missing"), strict=True):
            text.append(mark, style)
            text.append(f" {words}  ")
        text.append(f"block of rank 0 to {p - 1}, from left to right")
    else:
        text.append(f"share of the {p} ranks' blocks that a rank can hold")
    return text


def _round(number: int) -> str:
    return "start" if not number else f"{number}"


def _chosen(count: int, most: int) -> list[int]:
    """At most so many numbers below count, spread evenly, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(index * (count - 1) / (most - 1)) for index in range(most)})
