"""The timeline of a run: the state of every rank over time. Blue is communicating, yellow idle, green computing.

If a character represents several ranks or several states, blue fills it from below in proportion to its share. Without
color, blocks are communicating, dots idle, shades computing. A red cross is a rank that is blocked when the run fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from fakempi.errors import TraceError
from fakempi.trace.blocked import blocked_shares, shown_end
from fakempi.trace.columns import Columns
from fakempi.trace.levels import levels_of
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, Floats, shares
from fakempi.view.lines import fitted
from fakempi.view.numbers import linear_ticks, percent, seconds
from fakempi.view.rows import edges, key, names, rows_of
from fakempi.view.run_end import headline

BLUE, YELLOW, GREEN, RED = "blue", "bright_yellow", "green", "red"
BLOCKED = "×"
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
    """Return a row per rank, or per group of ranks if there are more than `height`, with percentages of idle time.

    `start`, `end` and `ranks` select a window. Percentages refer to that window, up to the end of the run.
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
    """Return two timelines next to each other, on the same time scale or each on its own."""
    if end is None and same_scale:
        end = max(shown_end(left), shown_end(right))
    same = ranks is not None or left.ranks == right.ranks
    available = width - 2
    label = label_width(rows_of(left, ranks, "timeline", height)) if same else 0
    if same:
        widths = (available - label + 1) // 2 + label, (available - label) // 2
    else:
        widths = (available + 1) // 2, available // 2
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
    end = shown_end(trace) if end is None else end
    check(width, height, start, end)
    groups = rows_of(trace, ranks, "timeline", height)
    margin = label_width(groups) if labels else 0
    columns = width - margin - 5
    bins = np.linspace(start, end if end > start else start + 1, columns + 1)
    cells, blocked = shares(trace, bins, groups), blocked_shares(trace, bins, groups)
    upto = max(min(end, trace.time), start)
    totals = shares(trace, np.array([start, upto if upto > start else start + 1]), groups)[:, 0]
    weights = np.array([len(group) for group in groups])
    overall = (totals * weights[:, None]).sum(axis=0) / max(weights.sum(), 1)

    lines = [Text(_centered(title, margin, columns), "bold")] if title else []
    levels = levels_of(trace)
    marks = f" {key(groups, levels)}"[: columns + 1] if margin else ""
    lines.append(Text(f"{'rank' if margin else '':>{max(margin - 1, 0)}}{marks:<{columns + bool(margin)}} idle"))
    for name, edge, row, stuck, total in zip(names(groups), edges(groups, levels), cells, blocked, totals, strict=True):
        line = Text(f"{name:>{margin - 1}}{edge}" if margin else "")
        _append_cells(line, row, stuck)
        line.append(f"{percent(total[IDLE]):>5}")
        lines.append(line)
    lines.append(Text(" " * margin + axis(start, end, columns)))
    lines += _legend(overall, width, bool(blocked.any()))
    if words := headline(trace):
        lines += [Text(line, "bold") for line in fitted(words, width).split("\n")]
    return lines


def _append_cells(line: Text, row: Floats, blocked: Floats) -> None:
    """Append a character for each bin of time; blanks after the end of the run."""
    run, style = "", ""
    for (communicating, idle, computing), stuck in zip(row.tolist(), blocked.tolist(), strict=True):
        if stuck > 0.5 > communicating + computing:
            mark, new = BLOCKED, RED
        elif communicating + idle + computing < 0.5:
            mark, new = " ", ""
        elif computing > max(communicating, idle):
            mark, new = _COMPUTING, f"{GREEN} on {GREEN}"
        else:
            level = round(8 * communicating / (communicating + idle))
            # A small share of blue or yellow is not rounded to zero.
            level = min(max(level, communicating > 0.01), 8 - (idle > 0.01))
            mark = _LEVELS[level]
            new = (f"{YELLOW} on {YELLOW}", f"{BLUE} on {YELLOW}", f"{BLUE} on {BLUE}")[(level > 0) + (level == 8)]
        if new != style:
            line.append(run, style)
            run, style = "", new
        run += mark
    line.append(run, style)


def axis(start: float, end: float, columns: int) -> str:
    """Return the line with the times below the rows: as many as there is room for."""
    for maximum in range(max(2, columns // 6), 0, -1):
        below, reached = "", 0
        for tick in linear_ticks(start, end, maximum):
            label = seconds(tick)
            at = round((tick - start) / (end - start) * (columns - 1)) if end > start else 0
            first = max(at - len(label) // 2, 0)
            if first < reached and below:
                break  # two labels are too close: try fewer
            if first + len(label) <= columns + 5:
                below = f"{below:<{first}}{label}"
                reached = len(below) + 2
        else:
            break
    return below


def _legend(overall: Floats, width: int, blocked: bool) -> list[Text]:
    """Return the meanings of the colors and their shares of the time of all ranks; two lines if one is too short."""
    lines, left = [Text()], width
    items = [
        (mark, f"{color} on {color}", f" {name} {percent(overall[state])}  ")
        for state, mark, color, name in _KEY
        if state != COMPUTING or overall[COMPUTING]
    ]
    for mark, style, label in items + [(BLOCKED, RED, " blocked")] * blocked:
        if cell_len(label) + 2 > left:
            lines.append(Text())
            left = width
        lines[-1].append(mark * 2, style)
        lines[-1].append(label)
        left -= cell_len(label) + 2
    return lines


def label_width(groups: Sequence[Sequence[int]]) -> int:
    """Return the number of columns for the names of rows."""
    return 1 + max(4, *map(len, names(groups)))


def check(width: int, height: int, start: float, end: float) -> None:
    """Raise TraceError if a timeline of this size and window cannot be drawn."""
    if start > end or start < 0:
        raise TraceError(f"timeline: the window from {seconds(start)} to {seconds(end)} is empty or starts before 0.")
    if width < 24 or height < 1:
        raise TraceError(f"timeline: {width} columns and {height} rows are too few; the minimum is 24 and 1.")


def _centered(text: str, margin: int, columns: int) -> str:
    return " " * (margin + max((columns - cell_len(text)) // 2, 0)) + text


def _joined(lines: Sequence[Text]) -> Text:
    text = Text("\n", no_wrap=True, overflow="crop").join(lines)
    text.no_wrap, text.overflow = True, "crop"
    return text
