"""A loop for tests: made without tasks, and run to its end."""

from __future__ import annotations

from typing import Any

from fakempi.core.kernel.loop import Loop
from fakempi.core.world import make_backend


def new_loop(backend: Any) -> Loop:
    """A loop without tasks."""
    return Loop(make_backend(backend))


def finish(loop: Loop) -> None:
    """Run, and unwind remaining tasks."""
    try:
        loop.backend.drive(loop)
    finally:
        loop.unwind()
        loop.backend.close()
