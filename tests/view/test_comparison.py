"""The table of a comparison, at a fixed width, and its plot."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fakempi.view.comparison import (
    Chart,
    coincidences,
    coinciding,
    comparison,
    comparison_plot,
    comparison_with_measured,
    legend,
)

TIMES: dict[str, list[float | None]] = {"ring": [3e-6, 12e-6, None], "recursive_doubling": [2e-6, 14e-6, 30e-6]}
MARKS = {"ring": ["◦", "•", " "], "recursive_doubling": ["≠", "◦", "◦"]}
BOUND = [2e-6, 10e-6, 20e-6]


def chart(xs: Any, times: Any, bound: Any, label: str = "bytes") -> Chart:
    """The curves of a table."""
    return Chart("", xs, times, bound, label == "bytes", label)


def shown(thing: Any, width: int = 80, color: bool = False) -> str:
    """The output without color, without trailing blanks."""
    file = StringIO()
    Console(file=file, width=width, color_system="standard" if color else None, force_terminal=color).print(thing)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_the_best_of_each_column_is_marked_without_color_too() -> None:
    """And the origin of each number; an algorithm that does not fit has a dash."""
    table = comparison("allgather", ["8 B", "1 KiB", "64 KiB"], TIMES, MARKS, BOUND, head="bytes")
    assert shown(table) == """\
allgather
bytes                8 B     1 KiB     64 KiB
────────────────────────────────────────────────
ring                3 µs ◦   12 µs •*       -
recursive_doubling  2 µs ≠*  14 µs ◦    30 µs ◦*

lower bound         2 µs     10 µs      20 µs"""
    colored = shown(comparison("", ["a", "b", "c"], TIMES, MARKS, BOUND), color=True)
    assert "\x1b[1;32m2 µs \x1b[0m\x1b[1;31m≠\x1b[0m\x1b[1;32m*" in colored


def test_a_narrow_terminal_shortens_names_and_no_times() -> None:
    """Each table has one column then; no line is longer than the terminal."""
    name = "scatter_recursive_doubling_allgather"
    marks = {name: ["•", "•"], "ring": ["•", "•"]}
    table = comparison("bcast", ["2", "4"], {name: [3.02e-6, 4e-6], "ring": [1e-6, 2e-6]}, marks, [None, None], width=40)
    lines = [line.rstrip() for line in shown(table, 40).splitlines()]
    assert sum("3.02 µs •" in line and line.startswith("scatter_recursive_") and "…  " in line for line in lines) == 1
    assert max(map(len, lines)) <= 40


def test_columns_that_do_not_fit_are_below() -> None:
    """With the names repeated."""
    text = shown(comparison("t", ["a", "b", "c"], TIMES, MARKS, [None, None, None], head="x", width=40), width=40)
    assert text == """\
t
x                      a         b
─────────────────────────────────────
ring                3 µs ◦   12 µs •*
recursive_doubling  2 µs ≠*  14 µs ◦

x                       c
────────────────────────────
ring                    -
recursive_doubling  30 µs ◦*"""


def test_measurements_are_shown_next_to_the_model() -> None:
    """Each with its fastest; the ratio has no unit."""
    there: dict[str, list[float | None]] = {"ring": [6e-6, None, 1.0], "recursive_doubling": [8e-6, 14e-6, None]}
    assert shown(comparison_with_measured("bcast", ["8 B", "1 KiB", "64 KiB"], TIMES, MARKS, there, head="bytes")) == """\
bcast
bytes                          8 B     1 KiB     64 KiB
──────────────────────────────────────────────────────────
ring                modeled   3 µs ◦   12 µs •*       -
                    measured  6 µs  *      -        1 s  *
                    ratio      2 ×         -          -

recursive_doubling  modeled   2 µs ≠*  14 µs ◦    30 µs ◦*
                    measured  8 µs     14 µs  *       -
                    ratio      4 ×       1 ×          -"""


def test_the_legend_explains_the_marks_that_occur() -> None:
    """In the terms of the papers."""
    assert shown(legend({"◦"})) == "  * the fastest   ◦ claimed (from a formula)"
    assert shown(legend({" "})) == "  no algorithm has a time"
    assert shown(legend({"•", " ", "≠"})) == (
        "  * the fastest   • emulated   ≠ emulated, and the claim differs"
    )


@pytest.mark.slow
def test_nothing_is_cut_off_at_any_width() -> None:
    """Names and figures are complete."""
    times: dict[str, list[float | None]] = {"a_rather_long_name": [1.23e-6 * 10**i for i in range(12)]}
    labels = [f"{i} KiB" for i in range(12)]
    marks = {"a_rather_long_name": ["•"] * 12}
    for width in range(40, 170):
        text = shown(comparison("t", labels, times, marks, [None] * 12, width=width), width)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text
        assert text.count("*") == 12


def test_a_plot_needs_two_points() -> None:
    """Values without a logarithm are omitted."""
    assert comparison_plot(chart([8], {"ring": [1.0]}, [None])) is None
    assert comparison_plot(chart([0, 8], {"ring": [0, 1.0]}, [None, None])) is None
    times, bound = {"a": [1e-6, *TIMES["ring"]]}, [None, *BOUND]
    picture = comparison_plot(chart([0, 8, 1024, 65536], times, bound), width=60)
    text = shown(picture, 60)
    assert "● a   ○ lower bound" in text
    assert "32Ki" in text
    assert max(len(line) for line in text.splitlines()) <= 60


def test_ranks_have_no_binary_prefix() -> None:
    """1,024 ranks, but 1 Ki bytes."""
    xs = [2.0**k for k in range(1, 13)]
    times = {"ring": [x * 1e-6 for x in xs]}
    for label, expected, other in (("ranks", "2,048", "2Ki"), ("bytes", "2Ki", "2,048")):
        text = shown(comparison_plot(chart(xs, times, [None] * len(xs), label)))
        assert expected in text
        assert other not in text


def test_curves_that_coincide_are_named_below_the_plot() -> None:
    """A hidden curve is mentioned with the visible one; a curve that differs in one point, or lacks one, is not."""
    xs, base = [2.0, 4.0, 8.0], [1e-6, 2e-6, 3e-6]
    times: dict[str, list[float | None]] = {
        "a": [*base], "b": [time * 1.001 for time in base], "c": [1e-6, 2e-6, 4e-6], "d": [1e-6, None, 3e-6],
    }  # fmt: skip
    for width in (40, 80):
        text = shown(comparison_plot(chart(xs, times, base, "ranks"), width=width), width)
        assert "curves coincide (within 1 %): a, b, lower bound" in " ".join(text.split())
        assert max(map(len, text.splitlines())) <= width
    assert "coincide" not in shown(comparison_plot(chart(xs, {"a": base, "c": times["c"]}, [None] * 3, "ranks")))


def many_curves() -> Chart:
    """Nine algorithms: four equal ones, and five slower ones, of which one is the fastest in the last column."""
    xs = [8.0, 64.0, 512.0, 4096.0]
    times: dict[str, list[float | None]] = {f"equal{i}": [1.0, 2.0, 3.0, 4.0] for i in range(4)}
    times |= {f"slower{i}": [2.0 + i, 4.0 + i, 6.0 + i, 8.0 + i] for i in range(4)}
    return chart(xs, {**times, "late": [100.0, 100.0, 100.0, 1.0]}, [0.5] * 4)


def test_of_many_curves_the_fastest_of_each_column_and_the_closest_are_drawn() -> None:
    """One of a group that coincides; the rest is counted, and every curve is drawn without a limit."""
    every = many_curves()
    assert list(every.series()) == [*every.times, "lower bound"]
    few = every._replace(most=3)
    assert list(few.series()) == ["equal0", "slower0", "late", "lower bound"]
    assert few.omitted() == 3
    text = " ".join(shown(comparison_plot(few)).split())
    assert "● equal0 ○ slower0 ■ late □ lower bound" in text
    assert "coincide (within 1 %): equal0, equal1, equal2, equal3 3 other algorithms are not drawn: they are in" in text
    assert list(every._replace(most=1).series()) == ["equal0", "late", "lower bound"]
    assert list(few._replace(always=["slower3"]).series()) == ["equal0", "slower3", "late", "lower bound"]
    assert every._replace(most=9).omitted() == every.omitted() == 0


def test_curves_that_coincide_in_part_are_named_with_the_part() -> None:
    """At least three points and half of the curve, at the start or at the end; a few points are not mentioned."""
    xs = [8.0, 64.0, 512.0, 4096.0, 32768.0]
    times: dict[str, list[float | None]] = {
        "a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": [1.0, 2.0, 3.0, 4.0, 9.0], "c": [7.0, 8.0, 3.0, 4.0, 9.0],
        "d": [7.0, 8.0, 0.1, 0.2, None],
    }  # fmt: skip
    found = coincidences(chart(xs, times, [None] * 5))
    assert found == ["curves coincide up to 4 KiB (within 1 %): a, b", "curves coincide from 512 B on (within 1 %): b, c"]
    ranks, times = [2.0, 4.0, 1024.0, 2048.0], {"a": [1.0, 1.0, 1.0, 2.0], "b": [1.0, 1.0, 1.0, 3.0]}
    counted = coincidences(chart(ranks, times, [1.0] * 4, "ranks"))
    assert counted == ["curves coincide up to 1,024 ranks (within 1 %): a, b"]


@given(st.lists(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=3, max_size=3), max_size=8))
def test_groups_of_coinciding_curves_are_classes_of_equal_curves(rows: list[list[float]]) -> None:
    """Two names are in one group if and only if their curves are equal."""
    series = {str(index): list(enumerate(row)) for index, row in enumerate(rows)}
    group_of = {name: number for number, group in enumerate(coinciding(series)) for name in group}
    for one, first in series.items():
        for other, second in series.items():
            if one != other:
                assert (first == second) == (one in group_of and group_of[one] == group_of.get(other))
