"""The critical path: which calls decided when the run ended, and the path's steps on the scale of time."""

from __future__ import annotations

from collections import defaultdict

from rich.text import Text

from fakempi.trace.columns import Columns
from fakempi.trace.critical import COMPUTE, TRANSFER, WAIT, Step
from fakempi.trace.measures import Measures
from fakempi.view.numbers import amount, percent, seconds
from fakempi.view.timeline import BLUE, GREEN, YELLOW

_MARKS = {TRANSFER: ("█", BLUE), COMPUTE: ("▒", GREEN), WAIT: ("·", YELLOW)}


def critical_path(trace: Columns, *, width: int = 80, steps: int = 16, title: str = "") -> Text:
    """Shares of the calls on the path, then its steps; if there are more than so many, the longest of them."""
    path = Measures(trace).critical_path
    time = trace.time
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{title or 'Critical path'}\n", "bold")
    text.append(f"{seconds(time)} in {len(path)} steps:")
    for kind, words in ((TRANSFER, "messages"), (COMPUTE, "computing"), (WAIT, "waiting")):
        share = sum(step.end - step.start for step in path if step.kind == kind) / (time or 1)
        if share:
            mark, colour = _MARKS[kind]
            text.append("  ")
            text.append(mark * 2, f"{colour} on {colour}")
            text.append(f" {words} {percent(share)}")
    text.append("\n")
    _append_calls(text, trace, path, width)
    _append_steps(text, trace, path, width, steps)
    text.rstrip()
    return text


def _append_calls(text: Text, trace: Columns, path: list[Step], width: int) -> None:
    by_call: dict[int, float] = defaultdict(float)
    for step in path:
        by_call[step.call] += step.end - step.start
    room = max(width - 54, 8)
    for call, spent in sorted(by_call.items(), key=lambda item: -item[1])[:5]:
        share = spent / (trace.time or 1)
        name = str(trace.calls[call]) if call else "(no call)"
        text.append(f"  {_short(name, 36):<36} {seconds(spent):>9} {percent(share):>4} ")
        text.append("█" * max(round(room * share), 1), BLUE)
        text.append("\n")


def _append_steps(text: Text, trace: Columns, path: list[Step], width: int, most: int) -> None:
    shown = sorted(sorted(path, key=lambda step: step.start - step.end)[:most], key=lambda step: step.start)
    columns = max(width - 44, 16)
    if len(shown) < len(path):
        text.append(f"The {len(shown)} longest of {len(path)} steps:\n", "italic")
    if shown:
        text.append(f"  {'starts':>9} {'takes':>9}  {'what':<20} when\n", "bright_black")
    for step in shown:
        if step.kind == TRANSFER:
            words = f"{step.source} → {step.dest}, {amount(step.nbytes)}"
        else:
            words = f"{step.rank} {'computes' if step.kind == COMPUTE else 'waits'}"
        text.append(f"  {seconds(step.start):>9} {seconds(step.end - step.start):>9}  {words:<20} ")
        first = min(int(step.start / trace.time * columns), columns - 1)
        last = max(min(round(step.end / trace.time * columns), columns), first + 1)
        mark, colour = _MARKS[step.kind]
        text.append(" " * first)
        text.append(mark * (last - first), f"{colour} on {colour}")
        text.append("\n")


def _short(words: str, width: int) -> str:
    return words if len(words) <= width else words[: width - 1] + "…"
