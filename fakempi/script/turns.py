"""What Python keeps for an OS thread, and a rank has to itself: the event loop that it runs, its debugger.

Ranks on greenlets share a thread. Such a thing is put away while its rank waits, and laid out again when that goes on. It is
a step around the loop's `wait`, which is put there when the first rank needs it; others find nothing, as in a new thread.
"""

from __future__ import annotations

from collections.abc import Callable

from fakempi.kernel.loop import Loop

Keep = Callable[[], Callable[[], None] | None]
"""Puts a thing of the running rank away and gives how to lay it out, or None if the rank has no such thing."""


class Turns:
    """What is to be kept while a rank of a loop waits."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.keepers: list[Keep] = []

    def keep(self, keeper: Keep) -> None:
        """From now on, keep this too."""
        if keeper not in self.keepers:
            self.keepers.append(keeper)
            if not self.loop.ending and "wait" not in vars(self.loop):
                self.loop.wait = self._wait  # type: ignore[method-assign]

    def forget(self) -> None:
        """The run is over."""
        if vars(self.loop).get("wait") == self._wait:
            del self.loop.wait

    def _wait(self) -> None:
        kept = [lay_out for lay_out in [keeper() for keeper in self.keepers] if lay_out is not None]
        try:
            type(self.loop).wait(self.loop)
        finally:
            for lay_out in kept:
                lay_out()
