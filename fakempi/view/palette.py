"""The views' colours in 24 bits, for terminals that have them; elsewhere the terminal's own sixteen serve.

Blue is dark, amber light, green between, so that people who do not see all colours tell them apart.
"""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.style import Style
from rich.text import Span, Text

COLOURS = {
    "blue": "#3d7fd1", "bright_blue": "#6aa5ea", "bright_yellow": "#ecd9a0", "yellow": "#c9a227", "green": "#3fae91",
    "bright_black": "#7d8694", "magenta": "#b8609a", "cyan": "#45a8bf", "bright_cyan": "#6fc3d6", "red": "#d0603c",
    "bright_red": "#e0703f",
}  # fmt: skip


def in_24_bits(thing: RenderableType) -> RenderableType:
    """The same in these colours; what is not of text stays as it is."""
    if isinstance(thing, Group):
        return Group(*map(in_24_bits, thing.renderables))
    if not isinstance(thing, Text):
        return thing
    made = thing.copy()
    made.spans = [Span(span.start, span.end, _style(span.style)) for span in thing.spans]
    return made


def _style(style: str | Style) -> str | Style:
    return " ".join(COLOURS.get(word, word) for word in style.split()) if isinstance(style, str) else style
