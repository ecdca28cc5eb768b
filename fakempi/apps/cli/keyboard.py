"""Read single key presses from a terminal, without Enter and without echo."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def keyboard() -> int | None:
    """Return the file descriptor of the terminal, or None if there is no terminal that can deliver single keys."""
    try:
        import termios  # noqa: F401  # missing on Windows

        return sys.stdin.fileno() if sys.stdin.isatty() else None
    except (ImportError, OSError, ValueError):
        return None


@contextmanager
def key_reader(terminal: int | None) -> Iterator[Callable[[float], str]]:
    """Yield a function that waits for keys, for the given number of seconds at most, and returns the keys pressed."""
    if terminal is None:
        yield _wait
        return
    import select
    import termios
    import tty

    def read(limit: float) -> str:
        ready = select.select([terminal], [], [], limit)[0]
        return os.read(terminal, 64).decode(errors="replace") if ready else ""

    before: Any = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)  # keep keys that were pressed earlier
    try:
        yield read
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _wait(limit: float) -> str:
    time.sleep(limit)
    return ""
