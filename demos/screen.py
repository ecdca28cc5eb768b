"""Where the demos print: as wide as the terminal, and 80 columns without colour in a file or a pipe."""

import sys

from rich.console import Console


def console():
    """For standard output. NO_COLOR is rich's business."""
    return Console(width=None if sys.stdout.isatty() else 80, highlight=False, emoji=False, markup=True)
