"""Play a replay in a terminal; keys pause it, step, and change the speed."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from fakempi.apps.cli.keyboard import key_reader

SECONDS = 6.0
"""Duration of a replay at normal speed."""
FRAME = 0.05
"""Seconds of real time between two frames."""
FASTEST = 16
KEYS = "space pause   . , step forward, back   + - faster, slower   0 restart   q quit"
ARROWS = {"\x1b[C": ".", "\x1b[D": ",", "\x1b[A": "+", "\x1b[B": "-", "\x1b[H": "0"}
"""Escape sequences of the arrow keys and Home, and the keys with the same effect."""


class ReplayControls:
    """The state of a replay: its time, its speed, and whether it is paused."""

    def __init__(self, end: float, steps: Sequence[float]) -> None:
        self.end, self.steps = end, steps
        self.time, self.speed = 0.0, 1.0
        self.paused = self.touched = self.ended = False

    def advance(self, passed: float) -> None:
        """Advance by `passed` seconds of real time. At the end, quit unless the user has pressed a key."""
        if self.paused:
            return
        self.time = min(self.time + passed / SECONDS * self.speed * self.end, self.end)
        if self.time >= self.end:
            self.paused, self.ended = True, not self.touched

    def press(self, keys: str) -> None:
        """Handle keys; unknown keys are ignored."""
        for sequence, key in ARROWS.items():
            keys = keys.replace(sequence, key)
        for key in keys:
            act = self._acts.get(key)
            if act is not None:
                self.touched = True
                act(self)

    def _pause(self) -> None:
        if self.paused and self.time >= self.end:
            self.time = 0.0
        self.paused = not self.paused

    def _step_forward(self) -> None:
        self.paused, at = True, bisect_right(self.steps, self.time)
        self.time = self.steps[at] if at < len(self.steps) else self.end

    def _step_back(self) -> None:
        self.paused, at = True, bisect_left(self.steps, self.time)
        self.time = self.steps[at - 1] if at else 0.0

    def _faster(self) -> None:
        self.speed = min(self.speed * 2, FASTEST)

    def _slower(self) -> None:
        self.speed = max(self.speed / 2, 1 / FASTEST)

    def _restart(self) -> None:
        self.time, self.paused = 0.0, False

    def _quit(self) -> None:
        self.ended = True

    _acts: ClassVar[dict[str, Callable[[ReplayControls], None]]] = {
        " ": _pause, ".": _step_forward, ",": _step_back, "+": _faster, "=": _faster, "-": _slower, "0": _restart,
        "q": _quit, "\x1b": _quit,
    }  # fmt: skip

    def status(self) -> Text:
        """Return the line below the picture: the keys, and the speed or `paused`."""
        speed = f"{self.speed:g}×" if self.speed >= 1 else f"1/{round(1 / self.speed)}×"
        return Text(f"{KEYS}   {'paused' if self.paused else speed}", "bright_black", no_wrap=True, overflow="ellipsis")


def play(out: Console, player: ReplayControls, picture: Callable[[float], RenderableType], terminal: int | None) -> None:
    """Show frames until the end; keys are read from `terminal`, a file descriptor, unless it is None."""
    with Live(console=out, auto_refresh=False) as live, key_reader(terminal) as read:
        before = time.monotonic()
        while True:
            shown = picture(player.time)
            live.update(shown if terminal is None else Group(shown, player.status()), refresh=True)
            if player.ended:
                return
            player.press(read(FRAME))
            now = time.monotonic()
            player.advance(now - before)
            before = now
