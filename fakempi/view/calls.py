"""The timeline by what the program called: a letter and a colour for each call or region, so that phases show."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

import numpy as np
import numpy.typing as npt
from rich.text import Text

from fakempi.trace.columns import Columns
from fakempi.trace.states import Floats, covered, unions
from fakempi.view.numbers import percent
from fakempi.view.rows import chosen, fold, names
from fakempi.view.timeline import axis, check, label_width

COLOURS = ("blue", "yellow", "green", "magenta", "cyan", "red", "bright_blue", "bright_cyan")
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
    """A row for each rank, or for as many as it takes: each character is what most of its time went into."""
    end = trace.time if end is None else end
    check(width, height, start, end)
    groups = fold(chosen(trace, ranks, "timeline"), height)
    margin = label_width(groups)
    columns = width - margin
    edges = np.linspace(start, end if end > start else start + 1, columns + 1)
    kinds, amounts = _amounts(trace, edges, groups)
    letters = _letters(kinds)
    lived = np.diff(np.minimum(edges, trace.time)) / np.diff(edges)
    text = Text(f"{'rank':>{margin - 1}}\n", no_wrap=True, overflow="crop")
    for row, name in enumerate(names(groups)):
        text.append(f"{name:>{margin - 1}} ")
        most, spent = amounts[:, row].argmax(axis=0).tolist(), amounts[:, row].sum(axis=0)
        for column, kind in enumerate(most):
            if spent[column] > 0.05:
                text.append(letters[kind], f"bright_white on {_colour(kind)}")
            else:
                text.append("·" if lived[column] > 0.5 else " ", REST)
        text.append("\n")
    text.append(" " * margin + axis(start, end, columns - 5) + "\n")
    used = margin
    weights = np.array([len(group) for group in groups])[:, None]
    for kind, name in enumerate(kinds):
        words = f" {name} {percent(float((amounts[kind] * weights).sum() / max(weights.sum() * lived.sum(), 1e-300)))}  "
        if used and used + len(words) + 1 > width:
            text.append("\n")
            used = 0
        text.append(letters[kind], f"bright_white on {_colour(kind)}")
        text.append(words)
        used += len(words) + 1
    text.append("· idle")
    return text


def _colour(kind: int) -> str:
    return COLOURS[kind] if kind < len(COLOURS) else REST


def _letters(kinds: Sequence[str]) -> list[str]:
    """The first letter of each name that no other before it has; or any that is free."""
    taken: list[str] = []
    for name in kinds:
        free = [letter for letter in (*name, *name.upper(), *ascii_letters) if letter.isalpha() and letter not in taken]
        taken.append(free[0] if free else "#")
    return taken


def _amounts(trace: Columns, edges: Floats, groups: Sequence[Sequence[int]]) -> tuple[list[str], Floats]:
    """What there is of calls and regions, the longest first, and by kind, row and column how much of the time it has."""
    group_of = np.full(trace.ranks, -1)
    for index, group in enumerate(groups):
        group_of[list(group)] = index
    transfers, computes = trace.transfer_rows, trace.compute_rows
    whose = np.concatenate((transfers["source"], transfers["dest"], computes["rank"]))
    starts = np.concatenate((transfers["start"], transfers["start"], computes["start"]))
    ends = np.concatenate((transfers["sent"], transfers["arrived"], computes["end"]))
    numbers, every = _kinds(trace)
    lengths = np.bincount(numbers, weights=ends - starts, minlength=len(every))
    order = [int(kind) for kind in np.argsort(-lengths, kind="stable") if lengths[kind] > 0]
    shown, rest = order[: len(COLOURS)], order[len(COLOURS) :]
    sizes = np.array([max(len(group), 1) for group in groups])[:, None]
    found = []
    for kind in ([one] for one in shown) if not rest else (*([one] for one in shown), rest):
        mine = np.isin(numbers, kind)
        found.append(covered(unions(whose[mine], starts[mine], ends[mine]), edges, group_of, len(groups)) / sizes)
    named = [every[kind] for kind in shown] + ["other"] * bool(rest)
    return named, np.array(found or np.zeros((1, len(groups), len(edges) - 1)))


def _kinds(trace: Columns) -> tuple[Integers, list[str]]:
    """For each message as sent, as received, and each stretch of computing: the number of the outermost region's name, or
    else of the call's; and these names."""
    regions, every = trace.region_rows, list(dict.fromkeys([*(call.name for call in trace.calls), *trace.names]))
    place = {name: number for number, name in enumerate(every)}
    of_call = np.array([place[call.name] for call in trace.calls] or [0])
    of_name = np.array([place[name] for name in trace.names] or [0])
    outermost = np.arange(len(regions))
    for row, parent in enumerate(regions["parent"].tolist()):  # who is around comes before who is inside
        if parent >= 0:
            outermost[row] = outermost[parent]
    transfers = trace.transfer_rows
    inside = transfers["region"] >= 0
    sent = of_call[transfers["call"]]
    if len(regions):
        sent = np.where(inside, of_name[regions["name"][outermost[np.maximum(transfers["region"], 0)]]], sent)
    received = np.where(inside | (transfers["receive_call"] == 0), sent, of_call[transfers["receive_call"]])
    return np.concatenate((sent, received, of_call[trace.compute_rows["call"]])), every
