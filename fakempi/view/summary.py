"""A run in a dozen lines, and two runs beside each other."""

from __future__ import annotations

from collections import defaultdict

from rich.console import Group, RenderableType
from rich.text import Text

from fakempi.trace.columns import Columns
from fakempi.trace.measures import Measures
from fakempi.trace.regions import parts
from fakempi.view.numbers import amount, percent, seconds, short
from fakempi.view.timeline import BLUE, GREEN, YELLOW, side_by_side


def summary(trace: Columns, *, width: int = 80, title: str = "") -> Text:
    """What there was of ranks, time, messages, and where the time went."""
    found = Measures(trace)
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{title or 'Summary'}\n", "bold")
    for name, value in facts(found):
        text.append(f"  {name:<16} {value:<10}")
        text.append(f"{EXPLAINED.get(name, '')[: width - 29]}\n", "bright_black")
    states = (("communicating", found.communicating, BLUE, "█"), ("idle", found.idle, YELLOW, "·"))
    room = min(width - 34, 64)
    text.append(f"  {'':<16} mean {'':<{room}} min-max\n", "italic")
    for name, by_rank, colour, mark in (*states, ("computing", found.computing, GREEN, "▒")):
        mean = float(by_rank.mean()) / (found.time or 1)
        text.append(f"  {name:<16} {percent(mean):>4} ")
        bar = round(room * mean)
        text.append(mark * bar, f"{colour} on {colour}")
        text.append(" " * (room - bar))
        text.append(f" {_spread(by_rank / (found.time or 1))}\n")
    _append_regions(text, trace, width)
    text.rstrip()
    return text


EXPLAINED = {
    "time": "when the last rank ended, in modelled time",
    "rounds": "messages on the longest chain that must wait",
    "imbalance": "by how much the busiest rank exceeds the mean",
    "busiest port": "in use: no order of messages ends sooner",
    "over that": "so many times as long took the run",
}
"""What the words mean that not everybody knows."""


def facts(found: Measures) -> list[tuple[str, str]]:
    """The plain numbers, with their names."""
    return [
        ("ranks", f"{found.ranks:,}"),
        ("time", seconds(found.time)),
        ("messages", f"{found.messages:,}"),
        ("bytes", amount(found.bytes)),
        ("rounds", f"{found.rounds:,}"),
        ("imbalance", percent(found.imbalance)),
        ("busiest port", seconds(found.lower_bound)),
        ("over that", f"{found.distance:.3g}"),
    ]


def compare(
    left: Columns, right: Columns, *, titles: tuple[str, str] = ("left", "right"), width: int = 80
) -> RenderableType:
    """Two runs: their numbers, how they differ, and their timelines on one scale."""
    pair = (Measures(left), Measures(right))
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{'':<18}{titles[0][:18]:>18}{titles[1][:18]:>18}{'factor':>10}\n", "bold")
    for name, numbers, words in (
        ("ranks", [one.ranks for one in pair], short),
        ("time", [one.time for one in pair], seconds),
        ("messages", [one.messages for one in pair], short),
        ("bytes", [one.bytes for one in pair], amount),
        ("rounds", [one.rounds for one in pair], short),
        ("idle, mean", [float(one.idle.mean()) / (one.time or 1) for one in pair], percent),
        ("busiest port", [one.lower_bound for one in pair], seconds),
    ):
        factor = f"{numbers[1] / numbers[0]:.3g}" if numbers[0] else "-"
        text.append(f"{name:<18}{words(numbers[0]):>18}{words(numbers[1]):>18}{factor:>10}\n")
    return Group(text, side_by_side(left, right, titles=titles, width=width))


def _spread(shares: object) -> str:
    """From the least to the most of all ranks."""
    low, high = percent(float(min(shares))), percent(float(max(shares)))  # type: ignore[call-overload]
    return low if low == high else f"{low}-{high}"


def _append_regions(text: Text, trace: Columns, width: int) -> None:
    """Collective calls and phases: how often, and how much of all ranks' time was spent there."""
    regions = trace.region_rows[~parts(trace.region_rows)]
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
        words = trace.names[name] + (f" ({trace.names[algorithm]})" if algorithm else "")
        share = percent(total / (trace.ranks * trace.time or 1))
        text.append(f"  {words[:35]:<36}{short(count):>8}{seconds(total / count):>10}{share:>16}\n")
