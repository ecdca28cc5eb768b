"""The live line: it gives way to what the program writes, and to questions."""

from __future__ import annotations

from io import StringIO

from fakempi.cli.watching import Above, LiveLine
from fakempi.script.output import Input

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
