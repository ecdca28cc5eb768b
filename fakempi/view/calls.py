"""The timeline by MPI call: a letter and a color for each call or region, which makes phases visible."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

import numpy as np
import numpy.typing as npt
from rich.text import Text

from fakempi.trace.blocked import blocked_shares, shown_end
from fakempi.trace.columns import Columns
from fakempi.trace.levels import levels_of
from fakempi.trace.states import Floats, covered, unions
from fakempi.view.lines import fitted
from fakempi.view.numbers import percent
from fakempi.view.rows import edges as level_edges
from fakempi.view.rows import key, names, rows_of
from fakempi.view.run_end import headline
from fakempi.view.timeline import BLOCKED, RED, axis, check, label_width

COLORS = ("blue", "yellow", "green", "magenta", "cyan", "red", "bright_blue", "bright_cyan")
REST = "bright_black"

Integers = npt.NDArray[np.int64]


def by_call(
    trace: Columns,
    *,
    width: int = 80,
    height: int = 24,
    start: float = 0,
    end: float | None = None,
    ranks: Sequence[int] | None = None,
) -> Text:
    """Return a timeline with a row per rank or group of ranks; each character is the call with most of its time."""
    end = shown_end(trace) if end is None else end
    check(width, height, start, end)
    groups = rows_of(trace, ranks, "timeline", height)
    margin = label_width(groups)
    columns = width - margin
    edges = np.linspace(start, end if end > start else start + 1, columns + 1)
    kinds, amounts = _amounts(trace, edges, groups)
    letters = _letters(kinds)
    lived = np.diff(np.minimum(edges, trace.time)) / np.diff(edges)
    levels, blocked = levels_of(trace), blocked_shares(trace, edges, groups)
    text = Text(f"{'rank':>{margin - 1}} {key(groups, levels)}".rstrip() + "\n", no_wrap=True, overflow="crop")
    for row, (name, edge) in enumerate(zip(names(groups), level_edges(groups, levels), strict=True)):
        text.append(f"{name:>{margin - 1}}{edge}")
        most, spent = amounts[:, row].argmax(axis=0).tolist(), amounts[:, row].sum(axis=0)
        for column, kind in enumerate(most):
            if spent[column] > 0.05:
                text.append(letters[kind], f"bright_white on {_color(kind)}")
            elif blocked[row, column] > 0.5:
                text.append(BLOCKED, RED)
            else:
                text.append("·" if lived[column] > 0.5 else " ", REST)
        text.append("\n")
    text.append(" " * margin + axis(start, end, columns - 5) + "\n")
    used = margin
    weights = np.array([len(group) for group in groups])[:, None]
    for kind, name in enumerate(kinds):
        label = f" {name} {percent(float((amounts[kind] * weights).sum() / max(weights.sum() * lived.sum(), 1e-300)))}  "
        if used and used + len(label) + 1 > width:
            text.append("\n")
            used = 0
        text.append(letters[kind], f"bright_white on {_color(kind)}")
        text.append(label)
        used += len(label) + 1
    text.append("· idle")
    if blocked.any():
        text.append(f"  {BLOCKED} blocked")
    if words := headline(trace):
        text.append(f"\n{fitted(words, width)}", "bold")
    return text


def _color(kind: int) -> str:
    return COLORS[kind] if kind < len(COLORS) else REST


def _letters(kinds: Sequence[str]) -> list[str]:
    """Return a letter for each name: its first letter that is not used yet, or any unused letter."""
    taken: list[str] = []
    for name in kinds:
        free = [letter for letter in (*name, *name.upper(), *ascii_letters) if letter.isalpha() and letter not in taken]
        taken.append(free[0] if free else "#")
    return taken


def _amounts(trace: Columns, edges: Floats, groups: Sequence[Sequence[int]]) -> tuple[list[str], Floats]:
    """Return the names of calls and regions, longest time first, and their shares of time by name, row and column."""
    group_of = np.full(trace.ranks, -1)
    for index, group in enumerate(groups):
        group_of[list(group)] = index
    transfers, computes = trace.transfer_rows, trace.compute_rows
    owner = np.concatenate((transfers["source"], transfers["dest"], computes["rank"]))
    starts = np.concatenate((transfers["start"], transfers["start"], computes["start"]))
    ends = np.concatenate((transfers["sent"], transfers["arrived"], computes["end"]))
    numbers, every = _kinds(trace)
    lengths = np.bincount(numbers, weights=ends - starts, minlength=len(every))
    order = [int(kind) for kind in np.argsort(-lengths, kind="stable") if lengths[kind] > 0]
    shown, rest = order[: len(COLORS)], order[len(COLORS) :]
    sizes = np.array([max(len(group), 1) for group in groups])[:, None]
    found = []
    for kind in ([one] for one in shown) if not rest else (*([one] for one in shown), rest):
        mine = np.isin(numbers, kind)
        found.append(covered(unions(owner[mine], starts[mine], ends[mine]), edges, group_of, len(groups)) / sizes)
    named = [every[kind] for kind in shown] + ["other"] * bool(rest)
    return named, np.array(found or np.zeros((1, len(groups), len(edges) - 1)))


def _kinds(trace: Columns) -> tuple[Integers, list[str]]:
    """Return an index for each sent message, received message and compute interval, and the names they refer to.

    The name is that of the outermost region, or that of the call outside all regions.
    """
    regions, every = trace.region_rows, list(dict.fromkeys([*(call.name for call in trace.calls), *trace.names]))
    place = {name: number for number, name in enumerate(every)}
    of_call = np.array([place[call.name] for call in trace.calls] or [0])
    of_name = np.array([place[name] for name in trace.names] or [0])
    outermost = np.arange(len(regions))
    for row, parent in enumerate(regions["parent"].tolist()):  # parents precede children
        if parent >= 0:
            outermost[row] = outermost[parent]
    transfers = trace.transfer_rows
    inside = transfers["region"] >= 0
    sent = of_call[transfers["call"]]
    if len(regions):
        sent = np.where(inside, of_name[regions["name"][outermost[np.maximum(transfers["region"], 0)]]], sent)
    received = np.where(inside | (transfers["receive_call"] == 0), sent, of_call[transfers["receive_call"]])
    return np.concatenate((sent, received, of_call[trace.compute_rows["call"]])), every
