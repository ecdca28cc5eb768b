"""`fakempi tour`: every station runs the program that it shows, and fits the screen."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.console import Console

from fakempi.apps.cli import main, touring
from fakempi.apps.tour import Page, pages
from tests.cli.test_running import Capture

ESSENTIAL = (
    "1000 ranks: the sum of the squares is 332833500",
    "  cycle: 0 → 3 → 2 → 1 → 0",
    "██ communicating 27%  ·· idle 27%  ▒▒ computing 45%",
    "lower bound         2 µs      4 µs       6 µs       8 µs",
    "  ranks 0-63: send(dest=rank+1, tag=7, 1018 bytes) at shift.py:4, since t = 0",
    "two_tree 1.18 ms, claim 1.18",
    "ring, 264 ms                      blocked_ring, 10.9 ms",
    "full_duplex: done at t = 24",
    "rank 99 is number 6 of 64 on node03",
    "lower bound     5 µs        5 µs     32.7 µs     255 µs",
    "schedule z:2",
    "  near miss: ranks 1-63 have messages from rank 0 with tag 1",
)
"""The topic of each station."""

WIDTH, HEIGHT = 80, 24


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the width of the terminal, and `CI`, with which pytest writes longer summaries."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("CI", "1")


@pytest.mark.quick(2)
@pytest.mark.parametrize("number", range(1, len(ESSENTIAL) + 1))
def test_a_station_shows_its_program_and_its_topic_and_fits(number: int, capsys: Capture) -> None:
    """Without a terminal: no pauses, no colors, and no output on standard error."""
    assert main(["tour", str(number)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    lines = out.splitlines()
    page = pages()[number - 1]
    assert [line for line in lines if len(line) > WIDTH] == []
    runs = next(index for index, line in enumerate(lines) if line.startswith("$ "))
    # one screen with a line for the prompt, or two
    assert (len(lines) if page.suggestion else max(runs, len(lines) - runs)) < HEIGHT
    assert lines[0].startswith(f"── {number}  {page.title} ─")
    assert ESSENTIAL[number - 1] in out
    if page.suggestion:
        assert f"Try it: {page.suggestion}" in lines
    if not page.code:
        return
    start = lines.index(page.name) + 1
    numbered = lines[start : start + page.code.count("\n")]
    assert [re.sub(r"^ *\d+ ", "", line).rstrip() for line in numbered] == page.code.splitlines()


def test_the_tour_visits_all_stations_and_names_next_steps(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order; two stations here, because another test runs each of them."""
    monkeypatch.setattr(touring, "pages", lambda: [pages()[4], pages()[7]])
    assert len(pages()) == len(ESSENTIAL)
    assert main(["tour", "--fast"]) == 0
    out = capsys.readouterr().out
    heads = [line.strip("─ ") for line in out.splitlines() if line.startswith("── ")]
    assert heads == [f"1  {pages()[4].title}", f"2  {pages()[7].title}", "Next steps"]
    assert "$ fakempi run -n 64 your_script.py" in out


def test_q_quits_and_enter_continues(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal."""
    monkeypatch.setattr(touring, "pages", lambda: [pages()[4]] * 3)
    monkeypatch.setattr(touring, "console", lambda: Console(force_terminal=True, color_system=None, height=HEIGHT))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    answers = iter(["", "", "", "q"])
    requested: list[str] = []

    def answer(question: str) -> str:
        requested.append(question)
        return next(answers)

    monkeypatch.setattr("builtins.input", answer)
    assert main(["tour"]) == 0
    out = capsys.readouterr().out
    assert out.count(pages()[4].title) == 2
    assert requested == ["any key: run it, q: quit ", "any key: next page, q: quit "] * 2
    assert "Next steps" not in out


def test_the_tour_has_four_pages_with_one_key_each(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """And offers the other pages after them; `q` ends it at once."""
    screen: dict[str, Any] = {"force_terminal": True, "width": WIDTH, "height": HEIGHT}
    monkeypatch.setattr(touring, "console", lambda: Console(color_system=None, **screen))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for keys, shown in ((["", "", "", "q"], 4), (["q"], 1)):
        answers, requested = iter(keys), list[str]()
        monkeypatch.setattr("builtins.input", lambda question, a=answers, r=requested: r.append(question) or next(a))
        assert main(["tour"]) == 0
        assert capsys.readouterr().out.count("Try it: ") == shown
        assert requested[-1] == (
            "any key: next page, q: quit " if shown == 1
            else f"That is the tour. any key: {len(pages()) - 4} more pages, on papers and on tests, q: quit "
        )  # fmt: skip


def test_a_station_with_a_missing_dependency_is_skipped(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's first command does not install pytest."""
    monkeypatch.setattr(touring, "find_spec", lambda name: None)
    assert main(["tour", "--list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "11  Run all schedules that MPI allows"


def test_stations_are_listed_and_chosen_by_number(capsys: Capture) -> None:
    """A single station prints no closing message."""
    assert main(["tour", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{number}  {page.title}" for number, page in enumerate(pages(), 1)]
    assert main(["tour", "5", "2", "--no-pause"]) == 0
    out = capsys.readouterr().out
    assert [line[3] for line in out.splitlines() if line.startswith("── ")] == ["5", "2"]


@pytest.mark.parametrize("word", ["0", "99"])
def test_a_station_that_does_not_exist_is_rejected(word: str, capsys: Capture) -> None:
    """The message lists the stations."""
    assert main(["tour", word]) == 2
    hint = "(To list them, run: fakempi tour --list)"
    expected = f"fakempi tour: there is no page {word}; the pages are 1 to {len(pages())}. {hint}\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_is_short(page: Page) -> None:
    """A few words; programs with line numbers, and commands, within 80 columns."""
    assert len(page.text) <= 4 * WIDTH
    assert len(page.code.splitlines()) <= 17
    assert max(map(len, page.code.splitlines()), default=0) <= WIDTH - 5
    assert all(len(line) <= WIDTH - 2 for line in page.commands)


def test_without_arguments_there_is_help_with_examples(capsys: Capture) -> None:
    """This is not an error."""
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "fakempi tour" in out
    assert max(map(len, out.splitlines())) <= WIDTH
