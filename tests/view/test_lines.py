"""Texts whose lines fit the terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fakempi.apps.cli.console import print_command, print_text
from fakempi.view.lines import fitted, write_text

WORDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=1, max_size=30)


@given(st.lists(WORDS, max_size=20), st.integers(0, 6), st.integers(20, 100))
def test_lines_are_broken_between_words(words: list[str], indent: int, width: int) -> None:
    """All words are there, and only lines of one word are longer than the width."""
    lines = fitted(" " * indent + " ".join(words), width).split("\n")
    assert [word for line in lines for word in line.split()] == words
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)


def test_files_and_pipes_have_whole_lines() -> None:
    """Programs that read reports find the same lines for every width."""
    line = "rank 0:" + " word" * 40  # rich 14 and older drop a blank at the end
    out = StringIO()
    write_text(out, line)
    console = Console(file=out, width=40)
    print_text(console, line)
    print_command(console, "replay: ", ["fakempi", "run", *["argument"] * 20])
    assert [len(one) for one in out.getvalue().splitlines()] == [207, 207, 199, 0]


@pytest.mark.parametrize("width", [30, 80, 160])
def test_long_commands_end_in_a_backslash(width: int) -> None:
    """So that a copied command works; an argument with spaces is in one line."""
    out = StringIO()
    print_command(Console(file=out, width=width, force_terminal=True, color_system=None), "", ["run", *["two words"] * 12])
    *lines, last = out.getvalue().rstrip("\n").split("\n")
    assert all(line.endswith(" \\") for line in lines)
    assert all(line.count("'") % 2 == 0 and len(line) <= width for line in [*lines, last])
    assert out.getvalue().replace("\\\n", "").split() == ["run", *["'two", "words'"] * 12]
