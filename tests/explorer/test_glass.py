"""What part of a run is seen: it stays inside of the run, with the cursor in it, whatever one does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fakempi.explorer.glass import Glass

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
def test_the_glass_stays_inside_of_the_run(time: float, ranks: int, moves: list[tuple[object, ...]]) -> None:
    """And shows the cursor, and at least one rank."""
    glass = Glass.whole(time, ranks)
    for name, *arguments in moves:
        glass = getattr(glass, str(name))(*arguments)
        slack = 1e-9 * time
        assert -slack <= glass.start < glass.end <= time + slack
        assert glass.start - slack <= glass.at <= glass.end + slack
        assert glass.first >= 0
        assert 1 <= glass.count <= ranks - glass.first
        assert glass.first <= glass.rank < glass.first + glass.count or name in ("zoom", "pan")


def test_zooming_keeps_what_is_under_the_cursor() -> None:
    """At the same place on the screen."""
    glass = Glass.whole(8.0, 4).to(2, 2.0).zoom(0.5)
    assert (glass.start, glass.end, glass.at) == (1.0, 5.0, 2.0)
    assert glass.zoom(2.0) == Glass.whole(8.0, 4).to(2, 2.0)


def test_a_run_without_time_can_be_looked_at() -> None:
    """As if it had taken a microsecond."""
    assert Glass.whole(0.0, 2).end == 1e-6
