"""What people do with the record of a run: load it from a file, and see it.

Here records and pictures are introduced to each other. A picture that is asked for in a program (`run.trace.show()`) goes
to the terminal from here; all others are printed by whoever asked for them.
"""

from __future__ import annotations

import os
from typing import Any

from fakempi.trace.record import Trace
from fakempi.trace.record import load as load_record


def load(path: str | os.PathLike[str]) -> Trace:
    """The trace in a file that `Trace.save` wrote, `.json` or `.npz`; it can be shown, measured and saved again."""
    return shown(load_record(path))


def shown(trace: Trace) -> Trace:
    """The same trace, which from now on can `show` itself."""
    trace.painter = show
    return trace


def show(trace: Trace, console: Any = None) -> None:
    """Print a summary, the timeline, and why ranks were idle, as wide as the terminal is."""
    from rich.console import Console  # not before somebody looks: it takes longer to import than most runs take

    from fakempi.view.summary import summary
    from fakempi.view.timeline import timeline
    from fakempi.view.waits import wait_states

    console = console or Console()
    width = max(min(console.width, 160), 40)
    console.print(summary(trace, width=width))
    console.print()
    console.print(timeline(trace, width=width))
    if trace.measure().idle.any():
        console.print()
        console.print(wait_states(trace, width=width))
