"""Progress lines of a run: a live line makes room for the output of the program, and for prompts."""

from __future__ import annotations

import sys
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any

import pytest

from fakempi.extensions.monitoring.display import LiveLine, PlainLines, StreamAboveLine, display_for
from fakempi.isolation.output import StandardInput

GONE = "\r\x1b[2K"


def test_program_output_replaces_the_line() -> None:
    """The line appears again below."""
    terminal = StringIO()
    line = LiveLine(terminal)
    above = StreamAboveLine(terminal, line)
    line.show("t = 1")
    above.write("hello\n")
    above.write("again\n")
    line.show("t = 2")
    line.clear()
    line.clear()
    assert terminal.getvalue() == f"{GONE}t = 1{GONE}hello\nagain\n{GONE}t = 2{GONE}"


def test_bytes_of_the_program_replace_the_line_too() -> None:
    """All that a rank writes to `sys.stdout.buffer`."""
    terminal = TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True)
    line = LiveLine(terminal)
    above = StreamAboveLine(terminal, line)
    line.show("t = 1")
    above.buffer.write(b"\xff\npart")
    line.show("t = 2")
    above.buffer.write(memoryview(b"\n"))
    line.show("t = 3")
    assert above.buffer.getvalue() == f"{GONE}t = 1{GONE}".encode() + b"\xff\npart\n" + f"{GONE}t = 3".encode()


def test_an_unfinished_line_of_the_program_is_kept() -> None:
    """As `print` writes it: word by word."""
    terminal = StringIO()
    line = LiveLine(terminal)
    above, other = StreamAboveLine(terminal, line, "stdout"), StreamAboveLine(terminal, line, "stderr")
    for text in ("step", " ", "80"):
        above.write(text)
        line.show("t = 1")
    other.write("next to it\n")
    line.show("t = 2")
    above.write("")
    above.write("\n")
    line.show("t = 3")
    assert terminal.getvalue() == f"step 80next to it\n\n{GONE}t = 3"


def test_a_prompt_stays_until_the_program_continues() -> None:
    """While it waits for an answer nothing changes, so the line does not appear."""
    terminal = StringIO()
    line = LiveLine(terminal)
    reading = StandardInput(StringIO("a\nb\nc\n"), line.read)
    line.show("t = 1")
    assert (reading.readline(), next(reading)) == ("a\n", "b\n")
    line.show("t = 1")
    line.show("t = 1; rank 0 has run for 2 s, now at work.py:3")
    line.show("t = 1; rank 0 has run for 3 s, now at work.py:3")
    assert terminal.getvalue() == f"{GONE}t = 1{GONE}"
    line.show("t = 2")
    assert terminal.getvalue() == f"{GONE}t = 1{GONE}{GONE}t = 2"


def test_a_line_is_cut_to_the_terminal() -> None:
    """Otherwise it would wrap, and the next line is not overwritten."""
    terminal = StringIO()
    LiveLine(terminal).show("x" * 10_000)
    assert len(terminal.getvalue()) < 1000


class Terminal(StringIO):
    """A stream that reports to be a terminal."""

    def isatty(self) -> bool:
        """Return true."""
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
def test_there_is_a_progress_line_on_a_terminal_or_on_request(progress: bool | str, stream: Any, kind: Any) -> None:
    """On a terminal it is overwritten, elsewhere lines follow each other."""
    line = display_for(progress, stream)
    assert kind is None if line is None else type(line) is kind


def test_plain_lines_become_less_frequent() -> None:
    """After 1, 2, 4 ... seconds, and from the second minute on every minute."""
    lines, elapsed, seen = PlainLines(StringIO()), 0.0, []
    for _ in range(10):
        elapsed += lines.pause(elapsed)
        seen.append(elapsed)
    assert seen == [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]


def test_a_live_line_does_not_appear_in_the_first_second() -> None:
    """After that, five times per second."""
    line = LiveLine(StringIO())
    assert [line.pause(elapsed) for elapsed in (0, 0.25, 1, 100)] == [1, 0.75, 0.2, 0.2]


def test_a_live_line_replaces_the_streams_and_restores_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only terminals; streams that the program has replaced stay."""
    out, err, other = Terminal(), StringIO(), StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "stdin", Terminal("yes\n"))
    line = LiveLine(out)
    line.open()
    assert (type(sys.stdout), sys.stderr, type(sys.stdin)) == (StreamAboveLine, err, StandardInput)
    line.show("t = 1")
    sys.stdout.write("hello\n")
    assert input() == "yes"
    sys.stdin = other
    line.close()
    assert (sys.stdout, sys.stderr, sys.stdin) == (out, err, other)
    assert out.getvalue() == f"{GONE}t = 1{GONE}hello\n"
