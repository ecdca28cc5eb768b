"""The views of a run by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import RenderableType

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.view.blocks import blocks
from fakempi.view.calls import by_call
from fakempi.view.critical import critical_path
from fakempi.view.matrix import matrix
from fakempi.view.run_end import end, failed, findings
from fakempi.view.summary import summary
from fakempi.view.timeline import timeline
from fakempi.view.waits import wait_states

NAMES = ("summary", "timeline", "matrix", "waits", "critical", "blocks", "findings", "end")


def default_views(trace: Columns) -> list[str]:
    """Return the names of the views to show if none is selected: the findings are first if the run failed or has errors."""
    return [*(["findings"] if failed(trace) else []), "summary", "timeline", "waits"]


def pictures(
    trace: Columns,
    names: Sequence[str],
    *,
    width: int = 80,
    height: int = 24,
    ranks: Sequence[int] | None = None,
    window: tuple[float, float | None] | None = None,
    by: str = "state",
) -> Iterator[RenderableType]:
    """Return an iterator that creates the named views; `by` ("state" or "call") selects the colors of the timeline."""
    for name in names:
        if name not in NAMES:
            raise TraceError(f"view {name!r} is unknown. Known: {', '.join(NAMES)}.")
    first, last = window or (0.0, None)
    draw = by_call if by == "call" else timeline
    makers: dict[str, Callable[[], RenderableType]] = {
        "summary": lambda: summary(trace, width=width),
        "timeline": lambda: draw(trace, width=width, height=height, start=first, end=last, ranks=ranks),
        "matrix": lambda: matrix(trace, width=width, height=height, ranks=ranks),
        "waits": lambda: wait_states(trace, width=width),
        "critical": lambda: critical_path(trace, width=width),
        "blocks": lambda: blocks(trace, width=width),
        "findings": lambda: findings(trace, width=width),
        "end": lambda: end(trace, width=width),
    }
    return (makers[name]() for name in names)
