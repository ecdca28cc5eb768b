"""The observer of handles of COMM_WORLD and COMM_SELF that all ranks share. The pytest plugin sets it."""

from __future__ import annotations

from collections.abc import Callable


class _WorldUse:
    """`observer` is called before a use of such a handle, on a rank and outside; None if nothing observes."""

    observer: Callable[[], None] | None = None


world_use = _WorldUse()
