"""The viewer in a real pseudo-terminal: Ctrl-C ends it and restores the terminal; it ends without a terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fakempi

pytest.importorskip("textual", reason="there is no textual: python -m pip install textual")
pty = pytest.importorskip("pty", reason="pseudo-terminals need POSIX")
termios = pytest.importorskip("termios", reason="pseudo-terminals need POSIX")

LIMIT = 60
"""Seconds for machines on which the viewer never reacts."""

Viewer = tuple[subprocess.Popen[bytes], int, int]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Viewer]]:
    """Start the viewer on a pseudo-terminal and wait until it reads keys; SIGHUP is ignored, as under nohup."""
    trace = fakempi.run(lambda comm: comm.Barrier(), 4, trace=True).trace
    assert trace is not None
    trace.save(tmp_path / "t.npz")
    started: list[subprocess.Popen[bytes]] = []
    opened: list[int] = []

    def start() -> Viewer:
        ours, theirs = pty.openpty()
        opened.extend((ours, theirs))
        command = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from fakempi.apps.cli import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", command, "view", "-i", "t.npz"], stdin=theirs, stdout=theirs, stderr=theirs,
            cwd=tmp_path, env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
        )  # fmt: skip
        started.append(process)
        seen = b""
        while b"q quit" not in seen:
            assert select.select([ours], [], [], LIMIT)[0], seen
            seen += os.read(ours, 65536)
        return process, ours, theirs

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
    for descriptor in opened:
        os.close(descriptor)


def read_until_end(process: subprocess.Popen[bytes], ours: int) -> bytes:
    """Return the rest of the output of a process that ends; fail if it does not end."""
    seen = b""
    for _ in range(LIMIT * 10):
        if select.select([ours], [], [], 0.1)[0]:
            seen += os.read(ours, 65536)
        elif process.poll() is not None:
            return seen
    raise AssertionError("the viewer did not end")


@pytest.mark.slow
def test_ctrl_c_ends_the_viewer_and_restores_the_terminal(start: Callable[[], Viewer]) -> None:
    """The first one; also in the search field, and the terminal echoes lines again."""
    for before in (b"", b"/"):
        process, ours, theirs = start()
        changed: Any = termios.tcgetattr(theirs)
        assert not changed[3] & termios.ECHO
        os.write(ours, before + b"\x03")
        rest = read_until_end(process, ours)
        assert process.returncode == 0
        assert b"\x1b[?1049l" in rest  # the normal screen
        assert b"\x1b[?25h" in rest  # the cursor
        restored: Any = termios.tcgetattr(theirs)
        assert restored[3] & termios.ECHO
        assert restored[3] & termios.ICANON


@pytest.mark.slow
def test_a_viewer_whose_terminal_is_gone_ends(start: Callable[[], Viewer]) -> None:
    """Although it ignores SIGHUP."""
    process, *ends = start()
    with open(os.devnull, "rb") as nothing:
        for descriptor in ends:
            os.dup2(nothing.fileno(), descriptor)  # closes this end of the terminal
    assert process.wait(LIMIT) is not None
