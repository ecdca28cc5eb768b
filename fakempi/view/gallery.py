"""Every view of a run by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import RenderableType

from fakempi.errors import TraceError
from fakempi.trace.columns import Columns
from fakempi.view.blocks import blocks
from fakempi.view.calls import by_call
from fakempi.view.critical import critical_path
from fakempi.view.matrix import matrix
from fakempi.view.summary import summary
from fakempi.view.timeline import timeline
from fakempi.view.waits import wait_states

NAMES = ("summary", "timeline", "matrix", "waits", "critical", "blocks")


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
    """The views of these names, each made when it is its turn; `by` is what colours the timeline: state or call."""
    for name in names:
        if name not in NAMES:
            raise TraceError(f"there is no view {name!r}; there are {', '.join(NAMES)}.")
    start, end = window or (0.0, None)
    lanes = by_call if by == "call" else timeline
    makers: dict[str, Callable[[], RenderableType]] = {
        "summary": lambda: summary(trace, width=width),
        "timeline": lambda: lanes(trace, width=width, height=height, start=start, end=end, ranks=ranks),
        "matrix": lambda: matrix(trace, width=width, height=height, ranks=ranks),
        "waits": lambda: wait_states(trace, width=width),
        "critical": lambda: critical_path(trace, width=width),
        "blocks": lambda: blocks(trace, width=width),
    }
    return (makers[name]() for name in names)
