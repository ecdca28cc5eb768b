"""The functions that render traces. They are defined above this package, which imports the default ones when needed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, cast

DEFAULT = "fakempi.view.loading"


class Renderer(Protocol):
    """Renders traces: a module or an object with these functions."""

    show: Callable[..., None]
    """Print views of a trace in a terminal: `show(trace, names, width=..., ranks=..., window=..., console=...)`."""

    page: Callable[..., str]
    """Return an HTML page of a trace, or with `framed=True` the same in a frame; `other` is a second trace."""

    tables: Callable[[Any], str]
    """Return measures as an HTML table for notebooks."""


_registered: list[Renderer] = []


def register(renderer: Renderer) -> None:
    """Render traces of this process with other functions from now on."""
    _registered[:] = [renderer]


def renderer() -> Renderer:
    """Return what was registered, or the default, whose import takes longer than many runs."""
    if not _registered:
        register(cast("Renderer", import_module(DEFAULT)))
    return _registered[0]
