"""`fakempi tour`: every station runs what it shows, and fits."""

from __future__ import annotations

import re

import pytest
from rich.console import Console

from fakempi.cli import main, touring
from fakempi.tour import Page, pages
from tests.cli.test_running import Capture

ESSENTIAL = (
    "rank   0 of 1000: token 999 at 1012.4 us",
    "  ranks 0-63: send(dest=rank+1, tag=7, 1018 bytes) at shift.py:4, since t = 0",
    "two_tree 1.18 ms, claim 1.18",
    "ring, 264 ms                      blocked_ring, 10.9 ms",
    "full_duplex: done at t = 24",
    "rank 99 is number 6 of 64 on node03",
    "lower bound     5 µs        5 µs     32.7 µs     255 µs",
    "schedule z:2",
    "  near miss: ranks 1-63 have messages from rank 0 with tag 1",
)
"""What each station is there for."""

WIDTH, HEIGHT = 80, 24


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """As wide as it is narrow."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.parametrize("number", range(1, len(ESSENTIAL) + 1))
def test_a_station_shows_its_program_and_what_it_is_there_for_and_fits(number: int, capsys: Capture) -> None:
    """Not on a terminal: no pauses, no colours, and nothing on standard error."""
    assert main(["tour", str(number)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    lines = out.splitlines()
    page = pages()[number - 1]
    assert [line for line in lines if len(line) > WIDTH] == []
    runs = next(index for index, line in enumerate(lines) if line.startswith("$ "))
    assert max(runs, len(lines) - runs) < HEIGHT  # two screens, each with a line for the question below it
    assert lines[0].startswith(f"── {number}  {page.title} ─")
    assert ESSENTIAL[number - 1] in out
    start = lines.index(page.name) + 1
    numbered = lines[start : start + page.code.count("\n")]
    assert [re.sub(r"^ *\d+ ", "", line).rstrip() for line in numbered] == page.code.splitlines()


def test_the_tour_goes_from_station_to_station_and_says_what_to_try_next(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All there are, in order; two of them here, for the others have their own test."""
    monkeypatch.setattr(touring, "pages", lambda: [pages()[1], pages()[4]])
    assert len(pages()) == len(ESSENTIAL)
    assert main(["tour", "--fast"]) == 0
    out = capsys.readouterr().out
    heads = [line.strip("─ ") for line in out.splitlines() if line.startswith("── ")]
    assert heads == [f"1  {pages()[1].title}", f"2  {pages()[4].title}", "What to try next"]
    assert "$ fakempi run -n 64 your_script.py" in out


def test_q_leaves_and_enter_goes_on(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal."""
    monkeypatch.setattr(touring, "pages", lambda: [pages()[1]] * 3)
    monkeypatch.setattr(touring, "console", lambda: Console(force_terminal=True, color_system=None, height=HEIGHT))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    answers = iter(["", "", "", "q"])
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("builtins.input", answer)
    assert main(["tour"]) == 0
    out = capsys.readouterr().out
    assert out.count(pages()[1].title) == 2
    assert asked == ["Enter runs it, q leaves ", "Enter goes on, q leaves "] * 2
    assert "What to try next" not in out


def test_a_station_for_which_something_is_missing_is_left_out(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's first command does not install pytest."""
    monkeypatch.setattr(touring, "find_spec", lambda name: None)
    assert main(["tour", "--list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "8  Every schedule, not the ones that happen"


def test_stations_are_listed_and_chosen_by_number(capsys: Capture) -> None:
    """One alone does not say goodbye."""
    assert main(["tour", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{number}  {page.title}" for number, page in enumerate(pages(), 1)]
    assert main(["tour", "5", "2", "--no-pause"]) == 0
    out = capsys.readouterr().out
    assert [line[3] for line in out.splitlines() if line.startswith("── ")] == ["5", "2"]


@pytest.mark.parametrize("word", ["0", "99"])
def test_a_station_that_is_not_there_is_refused(word: str, capsys: Capture) -> None:
    """And what there is is said."""
    assert main(["tour", word]) == 2
    expected = f"fakempi tour: there is no station {word}: there are 1 to {len(pages())}, see fakempi tour --list.\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_is_short(page: Page) -> None:
    """A few words; programs beside their line numbers, and commands, within 80 columns."""
    assert len(page.words) <= 4 * WIDTH
    assert len(page.code.splitlines()) <= 17
    assert max(map(len, page.code.splitlines())) <= WIDTH - 5
    assert all(len(line) <= WIDTH - 2 for line in page.commands)


def test_without_arguments_there_is_help_with_examples(capsys: Capture) -> None:
    """Which is no mistake."""
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "fakempi tour" in out
    assert max(map(len, out.splitlines())) <= WIDTH
