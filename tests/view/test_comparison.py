"""The table of a comparison, at a fixed width, and its plot."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from fakempi.view.comparison import beside, comparison, comparison_plot, legend

TIMES: dict[str, list[float | None]] = {"ring": [3e-6, 12e-6, None], "recursive_doubling": [2e-6, 14e-6, 30e-6]}
MARKS = {"ring": ["◦", "•", " "], "recursive_doubling": ["≠", "◦", "◦"]}
BOUND = [2e-6, 10e-6, 20e-6]


def shown(thing: Any, width: int = 80, colour: bool = False) -> str:
    """As it looks without colour, blanks at the ends of lines left out."""
    file = StringIO()
    Console(file=file, width=width, color_system="standard" if colour else None, force_terminal=colour).print(thing)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_the_best_of_each_column_is_marked_without_colour_too() -> None:
    """And where a number comes from; what does not serve is a dash."""
    table = comparison("allgather", ["8 B", "1 KiB", "64 KiB"], TIMES, MARKS, BOUND, head="bytes")
    assert shown(table) == """\
allgather
bytes                8 B     1 KiB     64 KiB
────────────────────────────────────────────────
ring                3 µs ◦   12 µs •*       -
recursive_doubling  2 µs ≠*  14 µs ◦    30 µs ◦*

lower bound         2 µs     10 µs      20 µs"""
    coloured = shown(comparison("", ["a", "b", "c"], TIMES, MARKS, BOUND), colour=True)
    assert "\x1b[1;32m2 µs \x1b[0m\x1b[1;31m≠\x1b[0m\x1b[1;32m*" in coloured


def test_columns_that_do_not_fit_come_below() -> None:
    """With the names again."""
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


def test_a_machine_is_shown_beside_the_model() -> None:
    """Each with its fastest; the ratio is in neither's units."""
    there: dict[str, list[float | None]] = {"ring": [6e-6, None, 1.0], "recursive_doubling": [8e-6, 14e-6, None]}
    assert shown(beside("bcast", ["8 B", "1 KiB", "64 KiB"], TIMES, MARKS, there, head="bytes")) == """\
bcast
bytes                          8 B     1 KiB     64 KiB
──────────────────────────────────────────────────────────
ring                modelled  3 µs ◦   12 µs •*       -
                    measured  6 µs  *      -        1 s  *
                    ratio      2 ×         -          -

recursive_doubling  modelled  2 µs ≠*  14 µs ◦    30 µs ◦*
                    measured  8 µs     14 µs  *       -
                    ratio      4 ×       1 ×          -"""


def test_the_legend_tells_of_the_marks_that_occur() -> None:
    """In the words that the papers' readers use."""
    assert shown(legend({"◦"})) == "  * the fastest   ◦ claimed, on paper"
    assert shown(legend({"•", " ", "≠"})) == (
        "  * the fastest   • measured, emulated   ≠ measured; claimed and measured differ"
    )


def test_nothing_is_cut_off_at_any_width() -> None:
    """Neither names nor figures."""
    times: dict[str, list[float | None]] = {"a_rather_long_name": [1.23e-6 * 10**i for i in range(12)]}
    labels = [f"{i} KiB" for i in range(12)]
    marks = {"a_rather_long_name": ["•"] * 12}
    for width in range(40, 170):
        text = shown(comparison("t", labels, times, marks, [None] * 12, width=width), width)
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
