"""The communication matrix: a heat map with senders as rows and receivers as columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.trace.levels import levels_of
from fakempi.trace.measures import Measures
from fakempi.view.numbers import amount, short
from fakempi.view.rows import GOES_ON, chosen, edges, fold, key, names

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
    """Return a heat map with a cell per pair of ranks, or of groups of ranks; `what` is "bytes" or "messages"."""
    if what not in ("bytes", "messages"):
        raise TraceError(f"matrix: what is {what!r}; it must be 'bytes' or 'messages'.")
    ranks = chosen(trace, ranks, "matrix")
    label = max(len(str(trace.ranks - 1)), 4) * 2
    levels = levels_of(trace)
    groups = fold(ranks, max(min(height, (width - label - 2) // 2), 1), levels)
    amounts = Measures(trace).matrix(groups)[what == "bytes"]
    top = int(amounts.max(initial=0))
    formatted = amount if what == "bytes" else short
    margin = max(4, *map(len, names(groups))) + 1

    text = Text(no_wrap=True, overflow="crop")
    if title:
        text.append(f"{title}\n", "bold")
    text.append(f"{'from':>{margin - 1}} {_across([str(group[0]) for group in groups])}\n")
    marks = edges(groups, levels)
    if levels:
        text.append(" " * margin + "".join("  " if edge == GOES_ON else f"{edge} " for edge in marks).rstrip() + "\n")
    for name, edge, row in zip(names(groups), marks, amounts, strict=True):
        text.append(f"{name:>{margin - 1}}{edge}")
        for number in row.tolist():  # up to a quarter, a half, three quarters and all of the maximum
            mark, color = _HEAT[-(-4 * number // max(top, 1))]
            text.append(mark * 2, color)
        text.append("\n")
    each = "rank" if len(groups) == len(ranks) else f"group of {max(map(len, groups))} ranks"
    text.append(f"{what} from each {each} (row) to each {each} (column)", "italic")
    text.append(f"\n{key(groups, levels)}\n" if levels else "\n", "italic")
    for index, (mark, color) in enumerate(_HEAT):
        text.append(mark * 2, color)
        text.append(f" to {formatted(top * index // 4)}  " if index else " none  ")
    return text


def _across(names: Sequence[str]) -> str:
    """Return the line with the receivers above their columns, each two characters wide; some are omitted to fit."""
    line, reached = "", 0
    for index, name in enumerate(names):
        if 2 * index >= reached:
            line = f"{line:<{2 * index}}{name}"
            reached = 2 * index + len(name) + 2
    return line
