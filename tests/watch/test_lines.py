"""The lines that say how far a run is: a live one gives way to what the program writes, and to questions."""

from __future__ import annotations

import sys
from io import StringIO
from typing import Any

import pytest

from fakempi.script.output import Input
from fakempi.watch.lines import Above, LiveLine, PlainLines, line_for

GONE = "\r\x1b[2K"


def test_the_program_writes_in_place_of_the_line() -> None:
    """Which comes back below."""
    terminal = StringIO()
    line = LiveLine(terminal)
    above = Above(terminal, line)
    line.show("t = 1")
    above.write("hello\n")
    above.write("again\n")
    line.show("t = 2")
    line.clear()
    line.clear()
    assert terminal.getvalue() == f"{GONE}t = 1{GONE}hello\nagain\n{GONE}t = 2{GONE}"


def test_a_line_that_the_program_has_begun_is_left_alone() -> None:
    """As `print` writes it: word by word."""
    terminal = StringIO()
    line = LiveLine(terminal)
    above, other = Above(terminal, line, "stdout"), Above(terminal, line, "stderr")
    for text in ("step", " ", "80"):
        above.write(text)
        line.show("t = 1")
    other.write("beside it\n")
    line.show("t = 2")
    above.write("")
    above.write("\n")
    line.show("t = 3")
    assert terminal.getvalue() == f"step 80beside it\n\n{GONE}t = 3"


def test_a_question_stays_until_the_program_goes_on() -> None:
    """While it waits for an answer nothing changes, and so the line does not come."""
    terminal = StringIO()
    line = LiveLine(terminal)
    asking = Input(StringIO("a\nb\nc\n"), line.ask)
    line.show("t = 1")
    assert (asking.readline(), next(asking)) == ("a\n", "b\n")
    line.show("t = 1")
    line.show("t = 1")
    assert terminal.getvalue() == f"{GONE}t = 1{GONE}"
    line.show("t = 2")
    assert terminal.getvalue() == f"{GONE}t = 1{GONE}{GONE}t = 2"


def test_a_line_is_cut_to_the_terminal() -> None:
    """Or it would run into the next, which is not written over."""
    terminal = StringIO()
    LiveLine(terminal).show("x" * 10_000)
    assert len(terminal.getvalue()) < 1000


class Terminal(StringIO):
    """Something that says it is one."""

    def isatty(self) -> bool:
        """As terminals do."""
        return True


@pytest.mark.parametrize(
    ("progress", "stream", "kind"),
    [
        (False, Terminal(), None),
        (True, Terminal(), LiveLine),
        ("always", Terminal(), LiveLine),
        (True, StringIO(), None),
        ("always", StringIO(), PlainLines),
        ("always", None, None),
    ],
)
def test_there_is_a_line_where_somebody_looks_or_has_asked_for_it(progress: bool | str, stream: Any, kind: Any) -> None:
    """On a terminal one that is written over, elsewhere one after the other."""
    line = line_for(progress, stream)
    assert kind is None if line is None else type(line) is kind


def test_plain_lines_come_less_and_less_often() -> None:
    """After 1, 2, 4 ... seconds, and from the second minute on every minute."""
    lines, elapsed, seen = PlainLines(StringIO()), 0.0, []
    for _ in range(10):
        elapsed += lines.pause(elapsed)
        seen.append(elapsed)
    assert seen == [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]


def test_a_live_line_does_not_come_in_the_first_second() -> None:
    """Then five times a second."""
    line = LiveLine(StringIO())
    assert [line.pause(elapsed) for elapsed in (0, 0.25, 1, 100)] == [1, 0.75, 0.2, 0.2]


def test_a_live_line_takes_the_streams_and_gives_them_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are terminals; what the program has put in their place stays."""
    out, err, other = Terminal(), StringIO(), StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "stdin", Terminal("yes\n"))
    line = LiveLine(out)
    line.open()
    assert (type(sys.stdout), sys.stderr, type(sys.stdin)) == (Above, err, Input)
    line.show("t = 1")
    sys.stdout.write("hello\n")
    assert input() == "yes"
    sys.stdin = other
    line.close()
    assert (sys.stdout, sys.stderr, sys.stdin) == (out, err, other)
    assert out.getvalue() == f"{GONE}t = 1{GONE}hello\n"
