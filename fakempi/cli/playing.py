"""A replay on a terminal: it plays by itself, and keys pause it, step, and make it faster or slower."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from fakempi.cli.keyboard import pressed

SECONDS = 6.0
"""How long a replay takes."""
FRAME = 0.05
"""Seconds of real time from one picture to the next."""
FASTEST = 16
KEYS = "space pause   . , step on and back   + - faster and slower   0 again   q leave"
ARROWS = {"\x1b[C": ".", "\x1b[D": ",", "\x1b[A": "+", "\x1b[B": "-", "\x1b[H": "0"}
"""What terminals send for these keys, which do the same."""


class Player:
    """Where a replay is: a moment, how fast it goes on, and whether it does."""

    def __init__(self, end: float, steps: Sequence[float]) -> None:
        self.end, self.steps = end, steps
        self.time, self.speed = 0.0, 1.0
        self.paused = self.touched = self.over = False

    def advance(self, passed: float) -> None:
        """So many seconds have passed. At the end it is over, unless somebody has a hand on it."""
        if self.paused:
            return
        self.time = min(self.time + passed / SECONDS * self.speed * self.end, self.end)
        if self.time >= self.end:
            self.paused, self.over = True, not self.touched

    def press(self, keys: str) -> None:
        """Do what is asked for; other keys do nothing."""
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

    def _on(self) -> None:
        self.paused, at = True, bisect_right(self.steps, self.time)
        self.time = self.steps[at] if at < len(self.steps) else self.end

    def _back(self) -> None:
        self.paused, at = True, bisect_left(self.steps, self.time)
        self.time = self.steps[at - 1] if at else 0.0

    def _faster(self) -> None:
        self.speed = min(self.speed * 2, FASTEST)

    def _slower(self) -> None:
        self.speed = max(self.speed / 2, 1 / FASTEST)

    def _again(self) -> None:
        self.time, self.paused = 0.0, False

    def _leave(self) -> None:
        self.over = True

    _acts: ClassVar[dict[str, Callable[[Player], None]]] = {
        " ": _pause, ".": _on, ",": _back, "+": _faster, "=": _faster, "-": _slower, "0": _again, "q": _leave,
        "\x1b": _leave,
    }  # fmt: skip

    def words(self) -> Text:
        """What keys do, and how it stands."""
        speed = f"{self.speed:g}×" if self.speed >= 1 else f"1/{round(1 / self.speed)}×"
        return Text(f"{KEYS}   {'paused' if self.paused else speed}", "bright_black", no_wrap=True, overflow="ellipsis")


def play(out: Console, player: Player, picture: Callable[[float], RenderableType], keys: int | None) -> None:
    """Show pictures until it is over; `keys` is the terminal that they are pressed on, if there is one."""
    with Live(console=out, auto_refresh=False) as live, pressed(keys) as read:
        before = time.monotonic()
        while True:
            shown = picture(player.time)
            live.update(shown if keys is None else Group(shown, player.words()), refresh=True)
            if player.over:
                return
            player.press(read(FRAME))
            now = time.monotonic()
            player.advance(now - before)
            before = now
