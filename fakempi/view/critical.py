"""The critical path: the calls that determine the end of the run, and the steps of the path over time."""

from __future__ import annotations

from collections import defaultdict

from rich.text import Text

from fakempi.errors.plurals import counted
from fakempi.trace.columns import Columns
from fakempi.trace.critical import COMPUTE, TRANSFER, WAIT, PathStep
from fakempi.trace.measures import Measures
from fakempi.view.numbers import amount, percent, seconds
from fakempi.view.timeline import BLUE, GREEN, YELLOW

_MARKS = {TRANSFER: ("█", BLUE), COMPUTE: ("▒", GREEN), WAIT: ("·", YELLOW)}


def critical_path(trace: Columns, *, width: int = 80, steps: int = 16, title: str = "") -> Text:
    """Return the shares of the calls on the path, then its steps, or the longest ones if there are more than `steps`."""
    path = Measures(trace).critical_path
    time = trace.time
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{title or 'Critical path'}\n", "bold")
    text.append(f"{seconds(time)} in {counted(len(path), 'step')}:")
    for kind, label in ((TRANSFER, "messages"), (COMPUTE, "computing"), (WAIT, "waiting")):
        share = sum(step.end - step.start for step in path if step.kind == kind) / (time or 1)
        if share:
            mark, color = _MARKS[kind]
            text.append("  ")
            text.append(mark * 2, f"{color} on {color}")
            text.append(f" {label} {percent(share)}")
    text.append("\n")
    _append_calls(text, trace, path, width)
    _append_steps(text, trace, path, width, steps)
    text.rstrip()
    return text


def _append_calls(text: Text, trace: Columns, path: list[PathStep], width: int) -> None:
    by_call: dict[int, float] = defaultdict(float)
    for step in path:
        by_call[step.call] += step.end - step.start
    bar_width = max(width - 54, 8)
    for call, spent in sorted(by_call.items(), key=lambda item: -item[1])[:5]:
        share = spent / (trace.time or 1)
        name = str(trace.calls[call]) if call else "(no call)"
        text.append(f"  {_short(name, 36):<36} {seconds(spent):>9} {percent(share):>4} ")
        text.append("█" * max(round(bar_width * min(share, 1.0)), 1), BLUE)
        text.append("\n")


def _append_steps(text: Text, trace: Columns, path: list[PathStep], width: int, maximum: int) -> None:
    shown = sorted(sorted(path, key=lambda step: step.start - step.end)[:maximum], key=lambda step: step.start)
    bar_width = max(width - 44, 16)
    if len(shown) < len(path):
        text.append(f"The {len(shown)} longest of {len(path)} steps:\n", "italic")
    if shown:
        text.append(f"  {'start':>9} {'length':>9}  {'step':<20} time\n", "bright_black")
    for step in shown:
        if step.kind == TRANSFER:
            label = f"{step.source} → {step.dest}, {amount(step.nbytes)}"
        else:
            label = f"{step.rank} {'computes' if step.kind == COMPUTE else 'waits'}"
        text.append(f"  {seconds(step.start):>9} {seconds(step.end - step.start):>9}  {label:<20} ")
        start, end = (min(time / (trace.time or 1), 1.0) for time in (step.start, step.end))  # a file may have any times
        first = min(int(start * bar_width), bar_width - 1)
        last = max(round(end * bar_width), first + 1)
        mark, color = _MARKS[step.kind]
        text.append(" " * first)
        text.append(mark * (last - first), f"{color} on {color}")
        text.append("\n")


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
