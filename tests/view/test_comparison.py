"""The table of a comparison, at a fixed width, and its plot."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from fakempi.view.comparison import comparison, comparison_plot

TIMES: dict[str, list[float | None]] = {"ring": [3e-6, 12e-6, None], "recursive_doubling": [2e-6, 14e-6, 30e-6]}
BOUND = [2e-6, 10e-6, 20e-6]


def shown(thing: Any, width: int = 80, colour: bool = False) -> str:
    """As it looks without colour, blanks at the ends of lines left out."""
    file = StringIO()
    Console(file=file, width=width, color_system="standard" if colour else None, force_terminal=colour).print(thing)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_the_best_of_each_column_is_marked_without_colour_too() -> None:
    """And what does not serve is a dash."""
    assert shown(comparison("allgather", ["8 B", "1 KiB", "64 KiB"], TIMES, BOUND, head="bytes")) == """\
allgather
bytes                   8 B     1 KiB     64 KiB
────────────────────────────────────────────────
ring                   3 µs   12 µs *          -
recursive_doubling   2 µs *     14 µs    30 µs *

lower bound            2 µs     10 µs      20 µs"""
    assert "\x1b[1;32m2 µs *" in shown(comparison("", ["a", "b", "c"], TIMES, BOUND), colour=True)


def test_columns_that_do_not_fit_come_below() -> None:
    """With the names again."""
    text = shown(comparison("t", ["a", "b", "c"], TIMES, [None, None, None], head="x", width=40), width=40)
    assert text == """\
t
x                         a         b
─────────────────────────────────────
ring                   3 µs   12 µs *
recursive_doubling   2 µs *     14 µs

x                          c
────────────────────────────
ring                       -
recursive_doubling   30 µs *"""


def test_nothing_is_cut_off_at_any_width() -> None:
    """Neither names nor figures."""
    times: dict[str, list[float | None]] = {"a_rather_long_name": [1.23e-6 * 10**i for i in range(12)]}
    labels = [f"{i} KiB" for i in range(12)]
    for width in range(40, 170):
        text = shown(comparison("t", labels, times, [None] * 12, width=width), width)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text
        assert text.count("*") == 12


def test_a_plot_needs_two_places() -> None:
    """And leaves out what a logarithm cannot show."""
    assert comparison_plot([8], {"ring": [1.0]}, [None], x_label="bytes") is None
    assert comparison_plot([0, 8], {"ring": [0, 1.0]}, [None, None], x_label="bytes") is None
    times, bound = {"a": [1e-6, *TIMES["ring"]]}, [None, *BOUND]
    picture = comparison_plot([0, 8, 1024, 65536], times, bound, x_label="bytes", width=60)
    text = shown(picture, 60)
    assert "● a   ○ lower bound" in text
    assert "32Ki" in text
    assert max(len(line) for line in text.splitlines()) <= 60
