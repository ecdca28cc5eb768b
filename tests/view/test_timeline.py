"""Timelines: output and errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import collectives
from fakempi import Hockney, TraceError, compute, phantom
from fakempi.trace.record import Trace
from fakempi.view.rows import fold, names
from fakempi.view.timeline import side_by_side, timeline
from tests.view.runs import traced


def allgatherv(name: str, counts: Sequence[int]) -> Trace:
    """The trace of an allgatherv with these bytes per rank."""

    def main(comm: Any) -> None:
        send, into = phantom(counts[comm.rank]), phantom(sum(counts))
        collectives.find("allgatherv", name).run(comm, send, into, counts)

    return traced(main, len(counts))


def working(comm: Any) -> None:
    """Some computing, some collectives."""
    for index in range(3):
        compute(1e-5 * (1 + (comm.rank + index) % 4))
        comm.Allreduce(phantom(8000), phantom(8000))


COMPUTING = Hockney(1e-6, 1e-9, compute_per_byte=1e-9)


def test_a_timeline_of_the_linear_ring(golden: Any) -> None:
    """On a linear distribution: the wave of large blocks."""
    golden(timeline(allgatherv("ring", [1000 * (rank + 1) for rank in range(16)]), title="Linear ring"), "timeline")


def test_computing_is_distinguished(golden: Any) -> None:
    """At 60 columns, where space is tight."""
    golden(timeline(traced(working, 8, COMPUTING), width=60), "timeline_computing", width=60)


def test_many_ranks_are_folded_into_rows(golden: Any) -> None:
    """Each row names its ranks."""
    golden(timeline(allgatherv("ring", [100_000] + [0] * 199), height=10), "timeline_folded")


def test_a_window_of_time_and_ranks(golden: Any) -> None:
    """Its percentages refer to the window."""
    trace = traced(working, 8, COMPUTING)
    golden(timeline(trace, start=2e-5, end=8e-5, ranks=[1, 3, 5]), "timeline_window")


def test_two_runs_side_by_side(golden: Any) -> None:
    """With one time scale: the shorter one ends earlier."""
    counts = [10_000] + [100] * 11
    pair = [allgatherv(name, counts) for name in ("ring", "bruck")]
    golden(side_by_side(*pair, titles=("ring", "bruck")), "timeline_side_by_side")


def test_two_runs_side_by_side_can_have_separate_scales(golden: Any) -> None:
    """If one is so much shorter that it would be invisible."""
    pair = [allgatherv("ring", [100_000] + [100] * 7), allgatherv("ring", [100] * 8)]
    golden(side_by_side(*pair, same_scale=False, height=4), "timeline_own_scale")


def test_two_runs_of_different_sizes_have_separate_labels(golden: Any) -> None:
    """Otherwise rows would be ambiguous."""
    golden(side_by_side(allgatherv("ring", [10] * 3), allgatherv("ring", [10] * 9), height=4), "timeline_unequal")


@given(st.integers(1, 40), st.integers(24, 130), st.integers(1, 30))
def test_a_timeline_has_its_width_and_height(ranks: int, width: int, height: int) -> None:
    """With a line above, and times and legend below."""
    trace = traced(lambda comm: comm.Barrier(), ranks)
    lines = timeline(trace, width=width, height=height).plain.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    assert len(lines) - len(fold(range(ranks), height)) in (3, 4)
    for line in lines[1 : 1 + len(fold(range(ranks), height))]:
        assert len(line) == width


@given(st.integers(1, 5000), st.integers(1, 100))
def test_folding_keeps_all_ranks_in_order(ranks: int, height: int) -> None:
    """In at most as many rows as there are."""
    groups = fold(range(ranks), height)
    assert [rank for group in groups for rank in group] == list(range(ranks))
    assert len(groups) <= height


def test_a_row_names_only_its_ranks() -> None:
    """A dash is for ranks without a gap."""
    assert names(fold([0, 1, 2, 5, 8, 9, 12], 3)) == ["0-2", "5…9", "12"]


def test_a_run_that_takes_no_time_can_be_drawn() -> None:
    """It is one idle moment."""
    assert "idle" in timeline(traced(lambda comm: None, 3)).plain


def test_an_invalid_window_is_rejected() -> None:
    """With the numbers that clash."""
    trace = traced(working, 4)
    with pytest.raises(TraceError, match=r"^timeline: ranks 2 to 9 were selected, but the trace has ranks 0 to 3\.$"):
        timeline(trace, ranks=range(2, 10))
    with pytest.raises(TraceError, match=r"^timeline: no ranks were selected, but the trace has ranks 0 to 3\.$"):
        timeline(trace, ranks=[])
    with pytest.raises(TraceError, match=r"^timeline: the window from 2 s to 1 s is empty or starts before 0\.$"):
        timeline(trace, start=2, end=1)
    with pytest.raises(TraceError, match=r"^timeline: 9 columns and 24 rows are too few; the minimum is 24"):
        timeline(trace, width=9)
