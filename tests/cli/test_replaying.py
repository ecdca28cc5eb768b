"""A replay on a terminal: pause, step and speed by keys."""

from __future__ import annotations

import io
import os

import pytest
from rich.console import Console
from rich.text import Text

from fakempi.apps.cli import replaying
from fakempi.apps.cli.replaying import ReplayControls, play

pty = pytest.importorskip("pty", reason="there are no terminals here")


def player() -> ReplayControls:
    """A replay of six seconds, in which a transfer starts at each full second."""
    return ReplayControls(6.0, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


def test_it_plays_to_the_end_without_keys() -> None:
    """In six seconds of real time; it ends then, unless a key was pressed."""
    for keys, over in (("", True), ("+-", False)):
        one = player()
        one.press(keys)
        one.advance(1.5)
        assert one.time == 1.5
        one.advance(10)
        assert (one.time, one.ended) == (6.0, over)


def test_keys_pause_and_continue() -> None:
    """At the end, the key restarts it."""
    one = player()
    one.advance(1.5)
    one.press(" ")
    one.advance(1)
    assert one.time == 1.5
    one.press(" ")
    one.advance(1)
    assert one.time == 2.5
    one.advance(9)
    one.press("  ")
    assert (one.time, one.paused) == (0.0, True)
    one.advance(1)
    one.press("0")
    one.advance(1)
    assert one.time == 1.0


def test_keys_step_from_start_to_start() -> None:
    """Backward and forward, within the ends; arrow keys do the same."""
    one = player()
    one.advance(1.5)
    times = []
    for key in [".", "\x1b[C", ",", "\x1b[D", ",", ",", *"......."]:
        one.press(key)
        times.append(one.time)
    assert times == [2, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5, 6, 6]
    assert one.paused


def test_keys_set_the_speed() -> None:
    """In factors of two, between 16 and 1/16; the status line shows it."""
    one = player()
    one.press("++")
    one.advance(1)
    assert one.time == 4.0
    assert one.status().plain.endswith("4×")
    one.press("---")
    assert one.status().plain.endswith("1/2×")
    one.press("-" * 9)
    assert one.speed == 1 / 16
    one.press("+" * 20)
    assert one.speed == 16
    one.press("x \x1b[A")
    assert one.status().plain.endswith("paused")


def test_a_terminal_gives_single_keys_and_is_restored() -> None:
    """Three steps and quit: the keys have their effect, and the terminal's settings are as before."""
    termios = pytest.importorskip("termios")
    ours, theirs = os.openpty()
    try:
        before = termios.tcgetattr(theirs)
        os.write(ours, b"...q")
        one, out = player(), io.StringIO()
        play(Console(file=out, width=100, height=20), one, lambda time: Text(f"at {time:g}"), theirs)
        assert one.ended
        assert one.time == 3.0
        assert termios.tcgetattr(theirs)[:4] == before[:4]
        assert "at 3" in out.getvalue()
        assert "space pause" in out.getvalue()
    finally:
        os.close(ours)
        os.close(theirs)


def test_without_keys_it_plays_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not mention keys."""
    monkeypatch.setattr(replaying, "SECONDS", 0.001)
    monkeypatch.setattr(replaying, "FRAME", 0.0)
    one, out = player(), io.StringIO()
    play(Console(file=out, width=100), one, lambda time: Text(f"at {time:g}"), None)
    assert "at 6" in out.getvalue()
    assert "pause" not in out.getvalue()
