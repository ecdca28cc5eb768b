"""Modules that a rank adds to `sys.modules` without an import, and that are private to it."""

from __future__ import annotations

from collections.abc import Callable


class _Registry:
    """`make_private` is set by fakempi.isolation when ranks share an interpreter."""

    make_private: Callable[[str], None] = staticmethod(lambda name: None)


registry = _Registry()


def make_private(name: str) -> None:
    """Make the module of this name in `sys.modules` private to the running rank."""
    registry.make_private(name)
