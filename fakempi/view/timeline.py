"""The timeline of a run: what every rank does when. Blue communicates, yellow is idle, green computes.

Where a character stands for several ranks, or for time in which several things happen, blue fills it from below as far as
its share. Without colour the same characters tell: blocks communicate, dots are idle, shades compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, Floats, shares
from fakempi.view.numbers import linear_ticks, percent, seconds
from fakempi.view.rows import chosen, fold, names

BLUE, YELLOW, GREEN = "blue", "bright_yellow", "green"
_LEVELS = "·▁▂▃▄▅▆▇█"
_COMPUTING = "▒"
_KEY = (
    (COMMUNICATING, "█", BLUE, "communicating"),
    (IDLE, "·", YELLOW, "idle"),
    (COMPUTING, _COMPUTING, GREEN, "computing"),
)


def timeline(
    trace: Columns,
    *,
    width: int = 80,
    height: int = 24,
    start: float = 0,
    end: float | None = None,
    ranks: Sequence[int] | None = None,
    title: str = "",
) -> Text:
    """A row for each rank, or, if there are more than `height`, for as many ranks as it takes; and idle percentages.

    `start`, `end` and `ranks` choose a window. Percentages are of that window, up to the run's end.
    """
    return _joined(_lines(trace, width, height, start, end, ranks, title, labels=True))


def side_by_side(
    left: Columns,
    right: Columns,
    *,
    titles: tuple[str, str] = ("", ""),
    width: int = 80,
    height: int = 24,
    start: float = 0,
    end: float | None = None,
    ranks: Sequence[int] | None = None,
    same_scale: bool = True,
) -> Text:
    """Two timelines on the same scale of time: what ends earlier is shorter; or each from its own start to its own end."""
    if end is None and same_scale:
        end = max(left.time, right.time)
    same = ranks is not None or left.ranks == right.ranks
    room = width - 2
    label = label_width(fold(chosen(left, ranks, "timeline"), height)) if same else 0
    widths = ((room - label + 1) // 2 + label, (room - label) // 2) if same else ((room + 1) // 2, room // 2)
    columns = [
        _lines(trace, columns, height, start, end, ranks, name, labels=not same or index == 0)
        for index, (trace, columns, name) in enumerate(zip((left, right), widths, titles, strict=True))
    ]
    lines = []
    for one, other in zip_longest(*columns, fillvalue=Text()):
        line = one.copy()
        line.append(" " * (widths[0] + 2 - one.cell_len))
        line.append_text(other)
        lines.append(line)
    return _joined(lines)


def _lines(
    trace: Columns,
    width: int,
    height: int,
    start: float,
    end: float | None,
    ranks: Sequence[int] | None,
    title: str,
    labels: bool,
) -> list[Text]:
    end = trace.time if end is None else end
    check(width, height, start, end)
    groups = fold(chosen(trace, ranks, "timeline"), height)
    margin = label_width(groups) if labels else 0
    columns = width - margin - 5
    edges = np.linspace(start, end if end > start else start + 1, columns + 1)
    cells = shares(trace, edges, groups)
    upto = max(min(end, trace.time), start)
    totals = shares(trace, np.array([start, upto if upto > start else start + 1]), groups)[:, 0]
    weights = np.array([len(group) for group in groups])
    overall = (totals * weights[:, None]).sum(axis=0) / max(weights.sum(), 1)

    lines = [Text(_centred(title, margin, columns), "bold")] if title else []
    lines.append(Text(f"{'rank' if margin else '':>{max(margin - 1, 0)}}" + " " * (columns + bool(margin)) + " idle"))
    for name, row, total in zip(names(groups), cells, totals, strict=True):
        line = Text(f"{name:>{margin - 1}} " if margin else "")
        _append_cells(line, row)
        line.append(f"{percent(total[IDLE]):>5}")
        lines.append(line)
    lines.append(Text(" " * margin + axis(start, end, columns)))
    lines += _legend(overall, width)
    return lines


def _append_cells(line: Text, row: Floats) -> None:
    """A character for each stretch of time; nothing after the run's end."""
    run, style = "", ""
    for communicating, idle, computing in row.tolist():
        if communicating + idle + computing < 0.5:
            mark, new = " ", ""
        elif computing > max(communicating, idle):
            mark, new = _COMPUTING, f"{GREEN} on {GREEN}"
        else:
            level = round(8 * communicating / (communicating + idle))
            # Neither a trace of blue nor a trace of yellow is rounded away.
            level = min(max(level, communicating > 0.01), 8 - (idle > 0.01))
            mark = _LEVELS[level]
            new = (f"{YELLOW} on {YELLOW}", f"{BLUE} on {YELLOW}", f"{BLUE} on {BLUE}")[(level > 0) + (level == 8)]
        if new != style:
            line.append(run, style)
            run, style = "", new
        run += mark
    line.append(run, style)


def axis(start: float, end: float, columns: int) -> str:
    """Times below the rows."""
    below = [" "] * (columns + 5)
    reached = 0
    for tick in linear_ticks(start, end, max(2, columns // 12)):
        words = seconds(tick)
        at = round((tick - start) / (end - start) * (columns - 1)) if end > start else 0
        first = max(at - len(words) // 2, 0)
        if first >= reached and first + len(words) <= len(below):
            below[first : first + len(words)] = words
            reached = first + len(words) + 1
    return "".join(below).rstrip()


def _legend(overall: Floats, width: int) -> list[Text]:
    """What the colours mean, and the share of each in all ranks' time; in two lines if one is too short."""
    lines, room = [Text()], width
    for state, mark, colour, name in _KEY:
        if state == COMPUTING and not overall[COMPUTING]:
            continue
        words = f" {name} {percent(overall[state])}  "
        if cell_len(words) + 2 > room:
            lines.append(Text())
            room = width
        lines[-1].append(mark * 2, f"{colour} on {colour}")
        lines[-1].append(words)
        room -= cell_len(words) + 2
    return lines


def label_width(groups: Sequence[Sequence[int]]) -> int:
    """Columns left of the lanes, for the names of rows."""
    return 1 + max(4, *map(len, names(groups)))


def check(width: int, height: int, start: float, end: float) -> None:
    """Complain of what cannot be drawn."""
    if start > end or start < 0:
        raise TraceError(f"timeline: there is no time from {seconds(start)} to {seconds(end)}.")
    if width < 24 or height < 1:
        raise TraceError(f"timeline: {width} columns and {height} rows are too few; there must be at least 24 and 1.")


def _centred(words: str, margin: int, columns: int) -> str:
    return " " * (margin + max((columns - cell_len(words)) // 2, 0)) + words


def _joined(lines: Sequence[Text]) -> Text:
    text = Text("\n", no_wrap=True, overflow="crop").join(lines)
    text.no_wrap, text.overflow = True, "crop"
    return text
