"""24-bit colors for terminals that support them; other terminals use their 16 colors.

Blue is dark, amber is light, and green is between, so that color-blind people can tell them apart.
"""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

COLORS = {
    "blue": "#3d7fd1", "bright_blue": "#6aa5ea", "bright_yellow": "#ecd9a0", "yellow": "#c9a227", "green": "#3fae91",
    "bright_black": "#7d8694", "magenta": "#b8609a", "cyan": "#45a8bf", "bright_cyan": "#6fc3d6", "red": "#d0603c",
    "bright_red": "#e0703f",
}  # fmt: skip


def in_24_bits(view: RenderableType) -> RenderableType:
    """Return a view with these colors; renderables other than text are unchanged."""
    if isinstance(view, Group):
        return Group(*map(in_24_bits, view.renderables))
    if not isinstance(view, Text):
        return view
    colored = view.copy()
    colored.spans = [
        span._replace(style=" ".join(COLORS.get(word, word) for word in span.style.split()))
        if isinstance(span.style, str) else span
        for span in view.spans
    ]  # fmt: skip
    return colored
