"""The table of wait states: the reasons for idle time, and the calls with most of it."""

from __future__ import annotations

from rich.text import Text

from fakempi.trace.columns import Columns
from fakempi.trace.measures import Measures
from fakempi.trace.waits import MEANINGS
from fakempi.view.lines import fitted
from fakempi.view.numbers import percent, seconds
from fakempi.view.run_end import headline
from fakempi.view.timeline import YELLOW


def wait_states(trace: Columns, *, width: int = 80, title: str = "") -> Text:
    """Return a row per wait state: seconds of all ranks, share of all time, the call with most of it; then definitions."""
    wait_times = Measures(trace).waits
    whole = trace.ranks * trace.time or 1
    rows = sorted((item for item in wait_times.items() if item[1][0]), key=lambda item: -item[1][0])
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{title or 'Wait states'}\n", "bold")
    if not rows:
        end = headline(trace)
        text.append(fitted(f"No rank was idle before the end of the run: {end}." if end else "No rank was idle.", width))
        return text
    largest = rows[0][1][0] / whole
    bar_width = min(max(width - 70, 6), 40)
    text.append(f"{'':17}{'all ranks':>10} {'share':>5}  {'':<{bar_width}}  mostly in\n", "italic")
    for state, (spent, calls) in rows:
        share = spent / whole
        text.append(f"{state:<17}{seconds(spent):>10} {percent(share):>5}  ")
        bar = max(round(bar_width * share / largest), 1)
        text.append("▒" * bar, f"{YELLOW} on {YELLOW}")
        text.append(" " * (bar_width - bar) + "  ")
        call, most = max(calls.items(), key=lambda item: item[1])
        if call:
            only = "" if most == spent else f" ({percent(most / spent)})"
            text.append(f"{trace.calls[call]}"[: width - 37 - bar_width - len(only)] + only)
        text.append("\n")
    idle = sum(spent for spent, _ in wait_times.values())
    text.append(f"{'all idle time':<17}{seconds(idle):>10} {percent(idle / whole):>5}", "bold")
    for state, _ in rows:
        text.append(f"\n{f'{state}: {MEANINGS[state]}':.{width}}", "bright_black")
    return text
