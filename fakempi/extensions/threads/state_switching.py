"""State that Python keeps per OS thread, but that must be separate for each rank: the running event loop, the debugger.

Ranks on greenlets share an OS thread. Such state is removed while its rank waits, and restored when the rank continues.
`StateSwitcher` subscribes to the loop's `wait` when the first rank needs it; other ranks have no such state, as in a new
thread.
"""

from __future__ import annotations

from collections.abc import Callable

from fakempi.core.hooks import Layer
from fakempi.core.kernel.loop import Loop

StateRemover = Callable[[], Callable[[], None] | None]
"""Removes some state of the running rank and returns a function that restores it, or None if the rank has no such state."""


class StateSwitcher:
    """Removes state of a rank from the OS thread while the rank waits, and restores it afterwards."""

    layer = Layer.RANK_STATE

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.removers: list[StateRemover] = []

    def add(self, remover: StateRemover) -> None:
        """Add a kind of state that is removed and restored from now on."""
        if remover in self.removers:
            return
        self.removers.append(remover)
        if len(self.removers) == 1 and not self.loop.ending:
            self.loop.subscribe(self)

    def forget(self) -> None:
        """Unsubscribe from the loop, because the run has ended."""
        self.loop.unsubscribe(self)

    def wait(self, proceed: Callable[[], None]) -> None:
        """Remove the state while the running task waits."""
        restorers = [restore for restore in [remover() for remover in self.removers] if restore is not None]
        try:
            proceed()
        finally:
            for restore in restorers:
                restore()


_by_loop: dict[Loop, StateSwitcher] = {}
"""The `StateSwitcher` of each active run that needs one, by its loop."""


def state_switcher(loop: Loop) -> StateSwitcher:
    """Return the `StateSwitcher` of a loop; create it when it is first needed."""
    return _by_loop.get(loop) or _by_loop.setdefault(loop, StateSwitcher(loop))


def forget(loop: Loop) -> None:
    """Remove the `StateSwitcher` of a run that has ended."""
    switcher = _by_loop.pop(loop, None)
    if switcher is not None:
        switcher.forget()
