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
        self.inner: Callable[[], None] = loop.wait

    def keep(self, keeper: Keep) -> None:
        """From now on, keep this too."""
        if keeper in self.keepers:
            return
        self.keepers.append(keeper)
        if len(self.keepers) == 1 and not self.loop.ending:
            self.inner = self.loop.wait  # which others may have taken a step around
            self.loop.wait = self._wait  # type: ignore[method-assign]

    def forget(self) -> None:
        """The run is over."""
        if self.loop.wait == self._wait:
            self.loop.wait = self.inner  # type: ignore[method-assign]

    def _wait(self) -> None:
        kept = [lay_out for lay_out in [keeper() for keeper in self.keepers] if lay_out is not None]
        try:
            self.inner()
        finally:
            for lay_out in kept:
                lay_out()
