"""The blocks that each rank can hold after each round.

A trace does not contain the contents of messages, but it has the data flow: after a message, its receiver can hold all
blocks that its sender held when the message started. In the usual gathering algorithms, ranks do hold these blocks.
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
"""(held now, held before the round) -> character and style"""
_SHADES = "·░▒▓█"
LARGEST, FOLDED = 24, 12
"""Number of ranks up to which each has a row, and the number of rows for more ranks."""
MAXIMUM = 16_384
"""Maximum number of ranks: these take 32 MB per round, and a million would take 125 GB."""


def holdings(trace: Columns) -> Iterator[list[int]]:
    """Yield after each round, starting before the first, for each rank the set of blocks it can hold, as bits of an int."""
    rows = trace.transfer_rows
    reached = depths(trace)
    order = rows["start"].argsort(kind="stable")
    holds = [1 << rank for rank in range(trace.ranks)]
    after = list(holds)
    yield list(after)
    gains: list[list[tuple[int, int]]] = [[] for _ in range(rounds(trace) + 1)]
    round_of = reached[order].tolist()
    in_transit: list[tuple[float, int, int, int]] = []
    columns = (rows[name][order].tolist() for name in ("source", "dest", "start", "arrived"))
    for number, (source, dest, start, arrived) in enumerate(zip(*columns, strict=True)):
        while in_transit and in_transit[0][0] <= start:
            _, _, process, gained = heappop(in_transit)
            holds[process] |= gained
        heappush(in_transit, (arrived, number, dest, holds[source]))
        gains[round_of[number]].append((dest, holds[source]))
    for each in gains[1:]:
        for dest, gained in each:
            after[dest] |= gained
        yield list(after)


def blocks(trace: Columns, *, width: int = 80, title: str = "") -> Text:
    """Return a row for each rank, a column for each round: ● is new, ■ was held before, · is missing.

    Many ranks are grouped, and shades show the shares of their blocks; of many rounds, some are shown.
    """
    p = trace.ranks
    if p > MAXIMUM:
        raise TraceError(f"blocks: {p:,} ranks are too many; the maximum is {MAXIMUM:,}.")
    groups = fold(range(p), p if p <= LARGEST else FOLDED)
    size = len(groups)
    label = max(4, *map(len, names(groups))) + 1
    cell = max(size, 5) + 1
    if width < label + 2 * cell:
        raise TraceError(f"blocks: {width} columns are too few; the minimum is {label + 2 * cell}.")
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
        for (mark, style), meaning in zip(_KEY.values(), ("new", "held", "missing"), strict=True):
            text.append(mark, style)
            text.append(f" {meaning}  ")
        text.append(f"blocks of ranks 0 to {p - 1}, left to right; by round")
    else:
        many = f"{len(groups[0])} ranks"
        text.append(f"{_SHADES} share of the blocks of {many} that {many} can hold; by round")
    return text


def _cell(after: dict[int, list[int]], k: int, group: Sequence[int], block: Sequence[int]) -> tuple[str, str]:
    """Return the character and style for a group of blocks at a group of ranks after a round."""
    rank = group[0]
    if len(group) == 1 and len(block) == 1:
        before = after[k - 1][rank] if k else 0
        return _KEY[after[k][rank] >> block[0] & 1, before >> block[0] & 1]
    mask = (1 << len(block)) - 1
    held = sum((after[k][one] >> block[0] & mask).bit_count() for one in group)
    level = -(-held * (len(_SHADES) - 1) // (len(group) * len(block)))
    return _SHADES[level], "bright_blue" if level else "bright_black"


def _chosen(count: int, maximum: int) -> list[int]:
    """Return at most `maximum` evenly spaced numbers below `count`, including the first and the last."""
    if count <= maximum:
        return list(range(count))
    return sorted({round(index * (count - 1) / (maximum - 1)) for index in range(maximum)})
