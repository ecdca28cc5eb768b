"""Line plots: output and errors."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.errors import TraceError
from fakempi.view.numbers import amount, count, linear_ticks, log_ticks, percent, seconds, short, short_binary
from fakempi.view.plot import MARKERS, plot


def test_a_plot_with_logarithmic_axes(golden: Any) -> None:
    """Powers of two get ticks that are powers of two."""
    processes = [2**k for k in range(1, 13)]
    picture = plot(
        {
            "ring": [(p, 1e-6 * (p - 1) + 8e-9 * p) for p in processes],
            "recursive doubling": [(p, 1e-6 * (p.bit_length() - 1) + 8e-9 * p) for p in processes],
            "lower bound": [(p, 8e-9 * p) for p in processes],
        },
        x_log=True,
        y_log=True,
        x_label="processes",
        y_label="time [s]",
        x_counts=True,
        title="Allgather, 8 bytes each",
    )
    golden(picture, "plot_log")


def test_a_plot_with_linear_axes(golden: Any) -> None:
    """It starts at 0 if that is near."""
    picture = plot({"up": [(n, n * n / 3) for n in range(100)], "down": [(n, 3000 - 10 * n) for n in range(0, 100, 7)]})
    golden(picture, "plot_linear")


numbers = st.floats(-1e12, 1e12)
points = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9)
lines = st.dictionaries(st.text("abc", min_size=1, max_size=5), points, min_size=1, max_size=5)


@given(lines, st.integers(24, 120), st.integers(4, 30))
def test_a_plot_has_its_width_and_height(series: dict[str, list[tuple[float, float]]], width: int, height: int) -> None:
    """For any numbers; the axis has two more lines, and the legend follows."""
    rows = plot(series, width=width, height=height).plain.splitlines()
    assert max(map(len, rows)) <= width
    assert [row.lstrip()[-1:] for row in rows].count("") == 0
    assert sum("┤" in row or "│" in row for row in rows) == height


@given(lines)
def test_every_series_is_in_the_legend_with_its_marker(series: dict[str, list[tuple[float, float]]]) -> None:
    """In the order given."""
    legend = plot(series).plain.replace("\n", " ") + " "
    places = [legend.rindex(f" {MARKERS[index]} {name} ") for index, name in enumerate(series)]
    assert places == sorted(places)


def test_a_point_that_is_not_finite_interrupts_the_line() -> None:
    """No dot between its neighbors."""
    whole = plot({"a": [(0, 1), (1, 1), (2, 1), (3, 1)]}).plain
    broken = plot({"a": [(0, 1), (1, 1), (1.5, nan), (2, 1), (3, 1), (4, inf)]}).plain
    dots = [sum("\u2800" < character <= "\u28ff" for character in text) for text in (whole, broken)]
    assert dots[1] == pytest.approx(dots[0] * 2 / 3, abs=2)


def test_invalid_data_is_rejected() -> None:
    """No data, logarithms of 0, and too little space."""
    with pytest.raises(TraceError, match=r"^plot: there is nothing to plot: no series has a point with finite numbers\.$"):
        plot({"a": [(1, nan)]})
    with pytest.raises(TraceError, match=r"^plot: y is logarithmic, but has the number -2: numbers must be positive\.$"):
        plot({"a": [(1, -2)]}, y_log=True)
    with pytest.raises(TraceError, match=r"^plot: 10 columns and 16 rows are too few; the minimum is 24 and 4\.$"):
        plot({"a": [(1, 2)]}, width=10)


def test_numbers_are_formatted_for_readers() -> None:
    """Short, with prefixes and units."""
    assert [short(n) for n in (0, 1, 999.9, 1000, 1536, 2.5e-6, -3e7)] == ["0", "1", "1k", "1k", "1.54k", "2.5µ", "-30M"]
    assert [short_binary(n) for n in (1, 512, 1024, 65536, 2**31)] == ["1", "512", "1Ki", "64Ki", "2Gi"]
    assert [count(n) for n in (1, 1024, 65536, 2.5)] == ["1", "1,024", "65,536", "2.5"]
    assert [seconds(t) for t in (0, 2e-9, 1.25e-5, 0.25, 1234567)] == ["0 s", "2 ns", "12.5 µs", "250 ms", "1,230,000 s"]
    assert [amount(n) for n in (0, 999, 1000, 2.5e6)] == ["0 B", "999 B", "1 kB", "2.5 MB"]
    assert [percent(s) for s in (0, 0.001, 0.5, 0.996, 1)] == ["0%", "<1%", "50%", ">99%", "100%"]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e9), st.integers(2, 12))
def test_linear_ticks_are_few_and_inside(low: float, span: float, most: int) -> None:
    """At most the requested number."""
    ticks = linear_ticks(low, low + span, most)
    assert 1 <= len(ticks) <= most
    assert all(low - 1e-6 * span <= tick <= low + span * 1.000001 for tick in ticks)


@given(st.floats(1e-9, 1e9), st.floats(1.01, 1e9), st.integers(2, 12))
def test_logarithmic_ticks_are_at_least_two(low: float, factor: float, most: int) -> None:
    """A single tick does not define a scale."""
    assert 2 <= len(log_ticks(low, low * factor, most)) <= most
