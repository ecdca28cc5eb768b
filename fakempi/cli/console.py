"""Where things are printed."""

from __future__ import annotations

import sys

from rich.console import Console


class Out(Console):
    """A console whose reader may leave."""

    def on_broken_pipe(self) -> None:
        """As wherever else nobody reads: `main` knows what to do."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output, as wide as the terminal or 80 columns; without colour where that is not wanted or not there."""
    return Out(file=sys.stdout, highlight=False, markup=False, emoji=False)
