"""Views as SVG, with colours that are the same everywhere."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType
from rich.terminal_theme import TerminalTheme

_NORMAL = "181a1f e05a5a 5eb05e c99828 3e78c8 b46ebe 46a5af c8ccd2"
_BRIGHT = "6e7480 f0645a 78c86e f0c846 64a0f0 cd8cd7 64c8d2 ffffff"


def _colours(words: str) -> list[tuple[int, int, int]]:
    return [(number >> 16, number >> 8 & 255, number & 255) for number in (int(word, 16) for word in words.split())]


THEME = TerminalTheme((24, 26, 31), (220, 223, 228), _colours(_NORMAL), _colours(_BRIGHT))
"""Blue, yellow and green of the timelines, told apart by most people who do not see all colours, and on a slide."""


def to_svg(*things: RenderableType, width: int = 80, title: str = "fakempi") -> str:
    """The things, one below the other, as an SVG picture of a terminal."""
    return _recorded(things, width).export_svg(title=title, theme=THEME)


def _recorded(things: tuple[RenderableType, ...], width: int) -> Console:
    console = Console(record=True, width=width, file=StringIO(), force_terminal=True, color_system="standard")
    for thing in things:
        console.print(thing)
    return console
