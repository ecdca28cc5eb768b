"""A run step by step: ranks on either side, and the messages that travel between them.

`frame` is the picture of one moment, `frames` a film of them, `steps` the moments at which something starts. Whoever shows
them decides how fast: a terminal replaces one by the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from rich.text import Text

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, all_busy, all_work
from fakempi.view.numbers import amount, percent, seconds
from fakempi.view.rows import chosen, fold, names
from fakempi.view.timeline import BLUE, GREEN, YELLOW

_STATES = (("█", BLUE), ("·", YELLOW), ("▒", GREEN))
MOST = 400
"""Messages that are drawn at a time: more cannot be told apart."""
LABELLED = 100
"""Ranks whose messages have both numbers on them; of more, a dot each."""
_MESSAGES = ("bright_blue", "magenta", "cyan", "green", "red", "bright_white")


def frame(trace: Columns, time: float, *, width: int = 80, height: int = 24, ranks: Sequence[int] | None = None) -> Text:
    """The moment `time`: senders left, receivers right, every message as far along as it is."""
    if not 0 <= time <= max(trace.time, 0):
        raise TraceError(f"replay: {seconds(time)} is not in the run, which ends at {seconds(trace.time)}.")
    if width < 40:
        raise TraceError(f"replay: {width} columns are too few; there must be at least 40.")
    groups = fold(chosen(trace, ranks, "replay"), height)
    apart = max(1, min((height - 1) // max(len(groups) - 1, 1), 3))  # lines from one to the next
    line_of = np.full(trace.ranks, -1)
    for index, group in enumerate(groups):
        line_of[list(group)] = apart * index
    labels = names(groups)
    margin = max(map(len, labels))
    columns = width - 2 * margin - 8
    canvas, flying = _flights(trace, time, line_of, columns)
    states = _states_at(trace, time, groups)
    text = Text(no_wrap=True, overflow="crop")
    for line in range(apart * (len(groups) - 1) + 1):
        index, between = divmod(line, apart)
        mark, colour = _STATES[states[index]]
        side = (mark * 2, f"{colour} on {colour}") if not between else ("  ", "")
        name = labels[index] if not between else ""
        text.append(f"{name:>{margin}} ")
        text.append(*side)
        text.append(" ")
        for column in range(columns):
            text.append(*canvas.get((line, column), (" ", "")))
        text.append(" ")
        text.append(*side)
        text.append(f" {name}\n")
    _append_progress(text, trace, time, flying, width)
    for (mark, colour), words in zip(_STATES, ("communicates", "is idle", "computes"), strict=True):
        text.append("\n" if mark == _STATES[0][0] else "  ")
        text.append(mark * 2, f"{colour} on {colour}")
        text.append(f" {words}")
    text.append("  a→b: a message from rank a to rank b" if trace.ranks <= LABELLED else "  ●: a message")
    return text


def steps(trace: Columns) -> list[float]:
    """The moments at which a transfer starts, and the end."""
    return [*np.unique(trace.transfer_rows["start"]).tolist(), trace.time]


def frames(
    trace: Columns, count: int = 60, *, width: int = 80, height: int = 24, ranks: Sequence[int] | None = None
) -> Iterator[Text]:
    """So many moments, equally far apart, from the start to the end."""
    for time in np.linspace(0, trace.time, max(count, 2)).tolist():
        yield frame(trace, time, width=width, height=height, ranks=ranks)


Canvas = dict[tuple[int, int], tuple[str, str]]
"""(line, column) -> a character and its style."""


def _flights(trace: Columns, time: float, line_of: npt.NDArray[np.int64], columns: int) -> tuple[Canvas, int]:
    """What is drawn between the two sides, and how many messages are under way."""
    transfers = trace.transfer_rows
    now = transfers[(transfers["start"] <= time) & (transfers["arrived"] > time)]
    canvas: Canvas = {}
    heads = []
    for row in now[:MOST]:
        source, dest = int(line_of[row["source"]]), int(line_of[row["dest"]])
        if source < 0 or dest < 0:
            continue
        done = (time - row["start"]) / max(row["arrived"] - row["start"], 1e-300)
        colour = _MESSAGES[int(row["source"]) % len(_MESSAGES)]
        reached = round(done * (columns - 1))
        way = [round(source + (dest - source) * column / max(columns - 1, 1)) for column in range(columns)]
        for column in range(columns - 1, -1, -1):
            bend = way[min(column + 1, columns - 1)] - way[column]
            mark = "─" if not bend else "╲" if bend > 0 else "╱"
            if column <= reached:
                canvas[way[column], column] = (mark, colour)
            elif column % 2:
                canvas.setdefault((way[column], column), ("·", "bright_black"))
        heads.append((way[reached], reached, f"{row['source']}→{row['dest']}" if trace.ranks <= LABELLED else "●", colour))
    for line, column, words, colour in heads:
        first = min(column, columns - len(words))
        for index, character in enumerate(words):
            canvas[line, first + index] = (character, f"bold {colour}")
    return canvas, len(now)


def _states_at(trace: Columns, time: float, groups: Sequence[Sequence[int]]) -> list[int]:
    """What most ranks of a group do at a moment."""
    doing = np.full(trace.ranks, IDLE)
    for state, (rank, start, end) in ((COMMUNICATING, all_busy(trace)), (COMPUTING, all_work(trace))):
        doing[rank[(start <= time) & (time < end)]] = state
    counts = [np.bincount(doing[list(group)], minlength=3) for group in groups]
    return [int(count.argmax()) for count in counts]


def _append_progress(text: Text, trace: Columns, time: float, flying: int, width: int) -> None:
    transfers = trace.transfer_rows
    there = transfers["arrived"] <= time
    share = time / trace.time if trace.time else 1.0
    words = f" {seconds(time)} of {seconds(trace.time)}, {flying} on the way, {int(there.sum())} of {len(transfers)} there"
    words += f" ({amount(int(transfers['nbytes'][there].sum()))})"
    room = max(width - len(words) - 1, 8)
    bar = round(room * share)
    text.append("━" * bar, BLUE)
    text.append("─" * (room - bar), "bright_black")
    text.append(words[: width - room] if room > 8 else f" {percent(share)} {seconds(time)}")
