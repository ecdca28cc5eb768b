"""Single keys of a terminal, as they are pressed: without Enter, and without an echo."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def keyboard() -> int | None:
    """The terminal that somebody sits at, if one can be asked for single keys."""
    try:
        import termios  # noqa: F401  # is not there on Windows

        return sys.stdin.fileno() if sys.stdin.isatty() else None
    except (ImportError, OSError, ValueError):
        return None


@contextmanager
def pressed(keys: int | None) -> Iterator[Callable[[float], str]]:
    """A function that waits so long for keys and returns those that were pressed."""
    if keys is None:
        yield _wait
        return
    import select
    import termios
    import tty

    before: Any = termios.tcgetattr(keys)
    tty.setcbreak(keys, termios.TCSADRAIN)  # keys that were pressed already count
    try:
        yield lambda limit: os.read(keys, 64).decode(errors="replace") if select.select([keys], [], [], limit)[0] else ""
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, before)


def _wait(limit: float) -> str:
    time.sleep(limit)
    return ""
