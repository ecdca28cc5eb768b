"""Where things are printed."""

from __future__ import annotations

import sys

from rich.console import Console


def console() -> Console:
    """Standard output, as wide as the terminal or 80 columns; without colour where that is not wanted or not there."""
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
