"""Names in `sys.modules` that are a rank's own, though nobody imports them there."""

from __future__ import annotations

from collections.abc import Callable


class _Names:
    """`claim` is handed down by whoever has ranks share an interpreter."""

    claim: Callable[[str], None] = staticmethod(lambda name: None)


names = _Names()


def claim(name: str) -> None:
    """What the running rank puts into `sys.modules` under this name is its own."""
    names.claim(name)
