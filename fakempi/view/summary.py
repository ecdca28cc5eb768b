"""The summary of a run, and the comparison of two runs."""

from __future__ import annotations

from collections import defaultdict

from rich.console import Group, RenderableType
from rich.text import Text

from fakempi.trace.columns import Columns
from fakempi.trace.levels import between_nodes, nodes_of
from fakempi.trace.measures import Measures
from fakempi.trace.regions import is_nested
from fakempi.view.numbers import amount, percent, seconds, short
from fakempi.view.run_end import deaths, headline
from fakempi.view.timeline import BLUE, GREEN, YELLOW, side_by_side


def summary(trace: Columns, *, width: int = 80, title: str = "") -> Text:
    """Return ranks, time, messages, the shares of the states, and the most expensive regions."""
    measures = Measures(trace)
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{title or 'Summary'}\n", "bold")
    for name, value in facts(measures):
        text.append(f"  {name:<16} {value:<10}")
        text.append(f"{EXPLAINED.get(name, '')[: width - 29]}\n", "bright_black")
    states = (("communicating", measures.communicating, BLUE, "█"), ("idle", measures.idle, YELLOW, "·"))
    bar_width = min(width - 34, 64)
    text.append(f"  {'':<16} mean {'':<{bar_width}} min-max\n", "italic")
    for name, by_rank, color, mark in (*states, ("computing", measures.computing, GREEN, "▒")):
        mean = float(by_rank.mean()) / (measures.time or 1)
        text.append(f"  {name:<16} {percent(mean):>4} ")
        bar = round(bar_width * mean)
        text.append(mark * bar, f"{color} on {color}")
        text.append(" " * (bar_width - bar))
        text.append(f" {_spread(by_rank / (measures.time or 1))}\n")
    _append_regions(text, trace)
    text.rstrip()
    return text


EXPLAINED = {
    "time": "when the last rank ended, in modeled time",
    "between nodes": "share of the messages",
    "rounds": "longest chain of dependent messages",
    "imbalance": "busy time of the busiest rank / mean, minus 1",
    "busiest port": "time in use: a lower bound on the run time",
    "slowdown": "run time / busiest port",
}
"""Explanations of the names in `facts`."""


def facts(measures: Measures) -> list[tuple[str, str]]:
    """Return the names and values of the scalar measures."""
    nodes = nodes_of(measures.trace)
    between = f"{percent(between_nodes(measures.trace) / (measures.messages or 1))}"
    end = (("ended", headline(measures.trace)), ("died", deaths(measures.trace)))
    return [
        *((name, words) for name, words in end if words),
        ("ranks", f"{measures.ranks:,}"),
        *([] if nodes is None else [("nodes", f"{len(set(nodes.tolist())):,}")]),
        ("time", seconds(measures.time)),
        ("messages", f"{measures.messages:,}"),
        *([] if nodes is None else [("between nodes", between)]),
        ("bytes", amount(measures.bytes)),
        ("rounds", f"{measures.rounds:,}"),
        ("imbalance", percent(measures.imbalance)),
        ("busiest port", seconds(measures.lower_bound)),
        ("slowdown", f"{measures.slowdown:.3g}x"),
    ]


def compare(
    left: Columns, right: Columns, *, titles: tuple[str, str] = ("left", "right"), width: int = 80
) -> RenderableType:
    """Return the measures of two runs, their ratios, and their timelines on the same scale."""
    pair = (Measures(left), Measures(right))
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{'':<18}{titles[0][:18]:>18}{titles[1][:18]:>18}{'ratio':>10}\n", "bold")
    for name, numbers, formatted in (
        ("ranks", [one.ranks for one in pair], short),
        ("time", [one.time for one in pair], seconds),
        ("messages", [one.messages for one in pair], short),
        ("bytes", [one.bytes for one in pair], amount),
        ("rounds", [one.rounds for one in pair], short),
        ("idle, mean", [float(one.idle.mean()) / (one.time or 1) for one in pair], percent),
        ("busiest port", [one.lower_bound for one in pair], seconds),
    ):
        ratio = f"{numbers[1] / numbers[0]:.3g}" if numbers[0] else "-"
        text.append(f"{name:<18}{formatted(numbers[0]):>18}{formatted(numbers[1]):>18}{ratio:>10}\n")
    for title, trace in zip(titles, (left, right), strict=True):
        if words := headline(trace):
            text.append(f"{title} ended: {words}\n", "bold")
    return Group(text, side_by_side(left, right, titles=titles, width=width))


def _spread(shares: object) -> str:
    """Return the minimum and the maximum over all ranks."""
    low, high = percent(float(min(shares))), percent(float(max(shares)))  # type: ignore[call-overload]  # a sequence of numbers
    return low if low == high else f"{low}-{high}"


def _append_regions(text: Text, trace: Columns) -> None:
    """Append collective calls and phases with their counts and their shares of the time of all ranks."""
    regions = trace.region_rows[~is_nested(trace.region_rows)]
    if not len(regions):
        return
    spent: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0, 0.0])
    columns = (regions[name].tolist() for name in ("name", "algorithm", "start", "end"))
    for name, algorithm, start, end in zip(*columns, strict=True):
        entry = spent[name, algorithm]
        entry[0] += 1
        entry[1] += min(end, trace.time) - start
    text.append(f"  {'region':<36}{'calls':>8}{'mean':>10}{'share of time':>16}\n", "italic")
    for (name, algorithm), (count, total) in sorted(spent.items(), key=lambda item: -item[1][1])[:8]:
        label = trace.names[name] + (f" ({trace.names[algorithm]})" if algorithm else "")
        share = percent(total / (trace.ranks * trace.time or 1))
        text.append(f"  {label[:35]:<36}{short(count):>8}{seconds(total / count):>10}{share:>16}\n")
