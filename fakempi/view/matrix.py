"""Who sends how much to whom: a heat map, senders down, receivers across."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.text import Text

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.trace.measures import Measures
from fakempi.view.numbers import amount, short
from fakempi.view.rows import chosen, fold, names

_HEAT = (("·", "bright_black"), ("░", "bright_blue"), ("▒", "bright_cyan"), ("▓", "yellow"), ("█", "bright_red"))


def matrix(
    trace: Columns,
    *,
    what: str = "bytes",
    width: int = 80,
    height: int = 32,
    ranks: Sequence[int] | None = None,
    title: str = "",
) -> Text:
    """A cell for each pair of ranks, or of as many ranks as it takes; `what` is "bytes" or "messages"."""
    if what not in ("bytes", "messages"):
        raise TraceError(f"matrix: what is {what!r}; there are 'bytes' and 'messages'.")
    ranks = chosen(trace, ranks, "matrix")
    label = max(len(str(trace.ranks - 1)), 4) * 2
    groups = fold(ranks, max(min(height, (width - label - 2) // 2), 1))
    amounts = Measures(trace).matrix(groups)[what == "bytes"]
    top = int(amounts.max(initial=0))
    words = amount if what == "bytes" else short
    margin = max(4, *map(len, names(groups))) + 1

    text = Text(no_wrap=True, overflow="crop")
    if title:
        text.append(f"{title}\n", "bold")
    text.append(f"{'from':>{margin - 1}} {_across([str(group[0]) for group in groups])}\n")
    for name, row in zip(names(groups), amounts, strict=True):
        text.append(f"{name:>{margin - 1}} ")
        for level in _levels(row, top):
            mark, colour = _HEAT[level]
            text.append(mark * 2, colour)
        text.append("\n")
    each = "rank" if len(groups) == len(ranks) else f"group of {len(groups[0])} ranks"
    text.append(f"{what} from each {each} (down) to each (across)\n", "italic")
    for index, (mark, colour) in enumerate(_HEAT):
        text.append(mark * 2, colour)
        text.append(f" to {words(top * index // 4)}  " if index else " none  ")
    return text


def _levels(row: np.typing.NDArray[np.int64], top: int) -> list[int]:
    """0 for nothing, 1 to 4 for up to a quarter, a half, three quarters and all of the largest."""
    return [0 if not number else min(-(-4 * number // max(top, 1)), 4) for number in row.tolist()]


def _across(names: Sequence[str]) -> str:
    """Receivers above their columns, each two wide, as many as there is room for."""
    line, reached = "", 0
    for index, name in enumerate(names):
        if 2 * index >= reached:
            line = f"{line:<{2 * index}}{name}"
            reached = 2 * index + len(name) + 2
    return line
