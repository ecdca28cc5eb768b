"""One figure of each kind, from small fixed data."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest
from matplotlib.figure import Figure

import fakempi
from fakempi.trace.record import Trace
from fakempi.view.comparison import Chart
from fakempi.view.figure.calibration import FitPanel, calibration_figure
from fakempi.view.figure.canvas import COLUMN, PAGE, SLIDE
from fakempi.view.figure.comparison import comparison_figure
from fakempi.view.figure.heatmap import Map, heatmap_figure
from fakempi.view.figure.run import run_figure
from fakempi.view.figure.schedule_tree import tree_figure
from fakempi.view.figure.timeline import Mark
from tests.view.runs import work

SIZES = [2**exponent for exponent in range(3, 21)]


class Run(NamedTuple):
    """A run of a search."""

    mode: str
    decisions: tuple[int, ...]
    outcome: str
    schedule: str


def chart(most: int | None = None) -> Chart:
    """Five algorithms; one coincides with another one, one is another one on this machine, and one has no time."""
    times: dict[str, list[float | None]] = {
        "binomial": [4e-6 + 4e-9 * size for size in SIZES],
        "bine": [4e-6 + 4e-9 * size for size in SIZES],
        "chain": [15e-6 + 1.2e-9 * size for size in SIZES],
        "linear": [16e-6 + 16e-9 * size for size in SIZES],
        "odd": [None] * len(SIZES),
    }
    bound = [4e-6 + 1e-9 * size for size in SIZES]
    further = {"two_level": times["binomial"]}
    return Chart(
        "bcast, 16 ranks", SIZES, times, bound, True, "size of the message", most, further=further, without_times=["odd"]
    )


def grid() -> Map:
    """Two algorithms on 3 numbers of ranks and 4 sizes, with one tie and one cell without times."""
    cells = {
        (row, column): {"tree": 1.0 + column, "ring": 2.0 + row * 0.5 - 0.5 * (column == 3) + (column == 0), "slow": 9.0}
        for row in range(3)
        for column in range(4)
    }
    cells[2, 0] = {}
    cells[0, 1] = {"tree": 2.0, "ring": 2.0}
    return Map("allreduce, the fastest algorithm", ["4", "8", "16"], ["8 B", "1 KiB", "64 KiB", "1 MiB"], cells, "size")


def exchange(comm: Any) -> None:
    """Large messages to the next rank before any receive."""
    comm.Barrier()
    comm.Send(fakempi.phantom(80_000), (comm.rank + 1) % comm.size, 7)
    comm.Recv(fakempi.phantom(80_000), (comm.rank - 1) % comm.size, 7)


@cache
def deadlock(ranks: int) -> Trace:
    """The trace of a ring of sends that wait for each other."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(exchange, ranks, cost="hockney:t_s=1e-6,t_w=1e-9,eager_limit=100", trace=True)
    trace = caught.value.trace
    assert isinstance(trace, Trace)
    return trace


def runs() -> list[Run]:
    """A tree of six schedules in two modes; two fail."""
    decisions = [((0, 0), "passes"), ((0, 1), "fails"), ((1, 0, 0), "passes"), ((1, 0, 1), "merged"), ((2,), "fails")]
    found = [Run("z", path, outcome, f"z:{'.'.join(map(str, path))}") for path, outcome in decisions]
    return [*found, Run("i", (0, 0), "passes", "i:0")]


def fit() -> list[FitPanel]:
    """A level with two pieces, and an error at two sizes."""
    measured = [(size, 1e-6 + size * 1e-9) for size in SIZES]
    return [FitPanel("level node", measured, [measured[:9], measured[9:]], [(64, 0.02), (4096, -0.3)])]


KINDS: dict[str, Callable[[], Figure]] = {
    "curves": lambda: comparison_figure([chart(), chart()._replace(title="bcast, 64 ranks")], width=PAGE),
    "slides": lambda: comparison_figure([chart(most=2)], width=SLIDE, style="slides"),
    "speedup": lambda: comparison_figure([chart()], width=COLUMN, speedup_over="chain", ratios=True),
    "heatmap": lambda: heatmap_figure([grid()], width=COLUMN, speedup_over="slow"),
    "run": lambda: run_figure([work()], ["timeline", "matrix", "waits"], width=COLUMN),
    "deadlock": lambda: run_figure([deadlock(4)], ["timeline"], width=COLUMN),
    "fault": lambda: run_figure([work()], ["timeline"], width=PAGE, marks=[Mark(2, 2e-5, "race: step 3")]),
    "tree": lambda: tree_figure(runs(), "2 of 6 schedules fail", ["schedule z:2: a reason"], width=COLUMN),
    "calibration": lambda: calibration_figure(fit(), width=COLUMN),
}
"""Each kind of figure, by the name of its stored picture."""
