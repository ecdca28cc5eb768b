"""The visible part of a run: it stays within the run and contains the cursor, after any steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.apps.tui.viewport import Viewport

MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("zoom"), st.floats(0.1, 10)),
        st.tuples(st.just("pan"), st.floats(-1, 1)),
        st.tuples(st.just("fold"), st.floats(0.3, 3)),
        st.tuples(st.just("to"), st.integers(-5, 200), st.floats(-1, 5)),
    ),
    max_size=12,
)


@given(st.floats(1e-6, 3), st.integers(1, 100), MOVES)
def test_the_viewport_stays_within_the_run(time: float, ranks: int, moves: list[tuple[object, ...]]) -> None:
    """It shows the cursor, and at least one rank."""
    viewport = Viewport.whole(time, ranks)
    for name, *arguments in moves:
        viewport = getattr(viewport, str(name))(*arguments)
        slack = 1e-9 * time
        assert -slack <= viewport.start < viewport.end <= time + slack
        assert viewport.start - slack <= viewport.at <= viewport.end + slack
        assert viewport.first >= 0
        assert 1 <= viewport.count <= ranks - viewport.first
        assert viewport.first <= viewport.rank < viewport.first + viewport.count or name in ("zoom", "pan")


def test_zooming_keeps_the_time_under_the_cursor() -> None:
    """At the same column of the screen."""
    viewport = Viewport.whole(8.0, 4).to(2, 2.0).zoom(0.5)
    assert (viewport.start, viewport.end, viewport.at) == (1.0, 5.0, 2.0)
    assert viewport.zoom(2.0) == Viewport.whole(8.0, 4).to(2, 2.0)


def test_steps_of_a_column_reach_the_end_at_every_zoom() -> None:
    """The cursor moves with each step, and the window follows it to the end of the run, also at the smallest window."""
    for level in range(60):
        whole = Viewport.whole(7.8e-6, 8)
        for at in (0.0, whole.time / 3):
            viewport = whole.to(0, at)
            for _ in range(level):
                viewport = viewport.zoom(0.667)
            start, column = viewport.start, (viewport.end - viewport.start) / 70
            for _ in range(142):
                before = viewport
                viewport = viewport.to(0, viewport.at + column)
                assert viewport.at > before.at or viewport.at == whole.time
            assert viewport.start > start or viewport.end == pytest.approx(whole.time)


def test_a_run_without_time_can_be_viewed() -> None:
    """As if it had taken a microsecond."""
    assert Viewport.whole(0.0, 2).end == 1e-6
