"""A replay of a run: ranks on either side, and messages in motion between them.

`frame` returns the picture at one time, `frames` a sequence of pictures, `steps` the times at which transfers start. The
caller controls the speed.
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
MAXIMUM = 400
"""Maximum number of messages in one frame: more could not be distinguished."""
LABELED = 100
"""Number of ranks up to which a message is labeled with both ranks; above, it is a dot."""
_MESSAGES = ("bright_blue", "magenta", "cyan", "green", "red", "bright_white")


def frame(trace: Columns, time: float, *, width: int = 80, height: int = 24, ranks: Sequence[int] | None = None) -> Text:
    """Return the picture at a time: senders left, receivers right, and every message at its current position."""
    if not 0 <= time <= max(trace.time, 0):
        raise TraceError(f"replay: {seconds(time)} is outside the run, which ends at {seconds(trace.time)}.")
    if width < 40:
        raise TraceError(f"replay: {width} columns are too few; the minimum is 40.")
    groups = fold(chosen(trace, ranks, "replay"), height)
    spacing = max(1, min((height - 1) // max(len(groups) - 1, 1), 3))  # lines between two ranks
    line_of = np.full(trace.ranks, -1)
    for index, group in enumerate(groups):
        line_of[list(group)] = spacing * index
    labels = names(groups)
    margin = max(map(len, labels))
    columns = width - 2 * margin - 8
    canvas, flying = _flights(trace, time, line_of, columns)
    states = _states_at(trace, time, groups)
    text = Text(no_wrap=True, overflow="crop")
    for line in range(spacing * (len(groups) - 1) + 1):
        index, between = divmod(line, spacing)
        mark, color = _STATES[states[index]]
        side = (mark * 2, f"{color} on {color}") if not between else ("  ", "")
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
    for (mark, color), label in zip(_STATES, ("communicating", "idle", "computing"), strict=True):
        text.append("\n" if mark == _STATES[0][0] else "  ")
        text.append(mark * 2, f"{color} on {color}")
        text.append(f" {label}")
    text.append("  a→b: a message from rank a to rank b" if trace.ranks <= LABELED else "  ●: a message")
    return text


def steps(trace: Columns) -> list[float]:
    """Return the times at which transfers start, and the end of the run."""
    return [*np.unique(trace.transfer_rows["start"]).tolist(), trace.time]


def frames(
    trace: Columns, count: int = 60, *, width: int = 80, height: int = 24, ranks: Sequence[int] | None = None
) -> Iterator[Text]:
    """Yield `count` pictures at equal distances in time, from the start to the end."""
    for time in np.linspace(0, trace.time, max(count, 2)).tolist():
        yield frame(trace, time, width=width, height=height, ranks=ranks)


Canvas = dict[tuple[int, int], tuple[str, str]]
"""(line, column) -> a character and its style."""


def _flights(trace: Columns, time: float, line_of: npt.NDArray[np.int64], columns: int) -> tuple[Canvas, int]:
    """Return the drawing between the two sides, and the number of messages in transit."""
    transfers = trace.transfer_rows
    now = transfers[(transfers["start"] <= time) & (transfers["arrived"] > time)]
    canvas: Canvas = {}
    heads = []
    for row in now[:MAXIMUM]:
        source, dest = int(line_of[row["source"]]), int(line_of[row["dest"]])
        if source < 0 or dest < 0:
            continue
        done = (time - row["start"]) / max(row["arrived"] - row["start"], 1e-300)
        color = _MESSAGES[int(row["source"]) % len(_MESSAGES)]
        reached = round(done * (columns - 1))
        path = [round(source + (dest - source) * column / max(columns - 1, 1)) for column in range(columns)]
        for column in range(columns - 1, -1, -1):
            bend = path[min(column + 1, columns - 1)] - path[column]
            mark = "─" if not bend else "╲" if bend > 0 else "╱"
            if column <= reached:
                canvas[path[column], column] = (mark, color)
            elif column % 2:
                canvas.setdefault((path[column], column), ("·", "bright_black"))
        heads.append((path[reached], reached, f"{row['source']}→{row['dest']}" if trace.ranks <= LABELED else "●", color))
    for line, column, label, color in heads:
        first = min(column, columns - len(label))
        for index, character in enumerate(label):
            canvas[line, first + index] = (character, f"bold {color}")
    return canvas, len(now)


def _states_at(trace: Columns, time: float, groups: Sequence[Sequence[int]]) -> list[int]:
    """Return for each group the most frequent state of its ranks at a time."""
    doing = np.full(trace.ranks, IDLE)
    for state, (rank, start, end) in ((COMMUNICATING, all_busy(trace)), (COMPUTING, all_work(trace))):
        doing[rank[(start <= time) & (time < end)]] = state
    counts = [np.bincount(doing[list(group)], minlength=3) for group in groups]
    return [int(count.argmax()) for count in counts]


def _append_progress(text: Text, trace: Columns, time: float, flying: int, width: int) -> None:
    transfers = trace.transfer_rows
    arrived = transfers["arrived"] <= time
    share = time / trace.time if trace.time else 1.0
    label = f" {seconds(time)} of {seconds(trace.time)}, {flying} in transit, {int(arrived.sum())}/{len(transfers)} arrived"
    label += f" ({amount(int(transfers['nbytes'][arrived].sum()))})"
    length = max(width - len(label) - 1, 8)
    bar = round(length * share)
    text.append("━" * bar, BLUE)
    text.append("─" * (length - bar), "bright_black")
    text.append(label[: width - length] if length > 8 else f" {percent(share)} {seconds(time)}")
