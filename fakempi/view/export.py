"""Views as SVG: drawings of paths and text in the system's own fonts, on white, that look right on paper.

What has a drawing of its own (`fakempi.view.drawing`) is drawn; all else is set as text in columns, in which blocks, shades
and braille become shapes. Nothing is asked of the network. `rsvg-convert -f pdf picture.svg > picture.pdf` makes a PDF.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from io import StringIO
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style

MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, 'Segoe UI', 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"
INK, QUIET = "#1b2230", "#626b7a"
COLOURS = {
    "blue": "#2a66ad", "bright_blue": "#3f7fca", "bright_yellow": "#f4e1a6", "yellow": "#c9a227", "green": "#45ad91",
    "bright_black": "#8a919c", "bright_cyan": "#55bcd9", "cyan": "#2f9db5", "bright_red": "#c9552f", "red": "#c9552f",
    "magenta": "#a8326e", "bright_white": INK, "white": INK,
}  # fmt: skip
"""What the terminal's colours are on paper: told apart by most people who do not see all of them."""

WIDE, HIGH = 7.8, 17.0
"""A character, in pixels."""
_LEVELS = {character: level / 8 for level, character in enumerate(" ▁▂▃▄▅▆▇█")}
_SHADES = {"░": 0.3, "▒": 0.6, "▓": 0.8}
_FILLED = set(_LEVELS) | set(_SHADES)


class Drawing(NamedTuple):
    """A part of a picture that draws itself: its size in pixels, and its shapes."""

    width: float
    height: float
    shapes: str


def to_svg(*things: RenderableType | Drawing, width: int = 80, title: str = "") -> str:
    """The things, one below the other, as an SVG picture."""
    parts, at, widest = [], 0.0, 0.0
    for thing in ((title,) if title else ()) + things:
        drawn = thing if isinstance(thing, Drawing) else _set(thing, width)
        parts.append(f'<g transform="translate(16 {at + 12:g})">{drawn.shapes}</g>')
        at, widest = at + drawn.height, max(widest, drawn.width)
    size = f'viewBox="0 0 {widest + 32:g} {at + 24:g}" width="{widest + 32:g}" height="{at + 24:g}"'
    ground = '<rect width="100%" height="100%" fill="#fff"/>'
    font = f'font-family="{MONO}" font-size="13" shape-rendering="crispEdges"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{ground}{"".join(parts)}</svg>\n'


def _set(thing: RenderableType, width: int) -> Drawing:
    """Lines of characters as shapes and text."""
    console = Console(width=width, file=StringIO(), force_terminal=True, color_system="standard", highlight=False)
    lines = console.render_lines(thing, console.options.update(width=width), pad=False)
    shapes = "".join(shape for row, line in enumerate(lines) for shape in _line(line, row * HIGH))
    widest = max((Segment.get_line_length(line) for line in lines), default=0)
    return Drawing(widest * WIDE, len(lines) * HIGH, shapes)


def _line(line: list[Segment], y: float) -> Iterator[str]:
    column = 0
    for text, style, _ in line:
        x, colour, ground = column * WIDE, _colour(style, "color"), _colour(style, "bgcolor")
        column += cell_len(text)
        if ground:
            yield _box(x, y + 1, len(text) * WIDE, HIGH - 2, ground)
        if set(text) <= (_FILLED | {"·"} if ground else _FILLED):
            yield from _blocks(text, x, y, colour or INK, ground)
        elif all("⠀" <= character <= "⣿" or character == " " for character in text):
            yield _dots(text, x, y, colour or INK)
        elif text.strip():
            yield _words(text, x, y, colour or INK, style)


def _blocks(text: str, x: float, y: float, colour: str, ground: str) -> Iterator[str]:
    """Runs of the same block as one box each."""
    first = 0
    for index in range(1, len(text) + 1):
        if index < len(text) and text[index] == text[first]:
            continue
        mark, shade = text[first], _SHADES.get(text[first])
        level = 1.0 if shade else _LEVELS.get(mark, 0.0)
        if level and colour != ground:
            high = (HIGH - 2) * level
            yield _box(x + first * WIDE, y + HIGH - 1 - high, (index - first) * WIDE, high, colour, shade or 1)
        first = index


def _dots(text: str, x: float, y: float, colour: str) -> str:
    """Braille as dots."""
    path = []
    for index, character in enumerate(text):
        bits = ord(character) - 0x2800 if character != " " else 0
        for dot, (across, down) in enumerate(((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))):
            if bits >> dot & 1:
                path.append(f"M{x + (index + 0.25 + 0.5 * across) * WIDE:.1f} {y + (down + 0.5) * HIGH / 4:.1f}h0")
    return f'<path d="{"".join(path)}" stroke="{colour}" stroke-width="2.4" stroke-linecap="round"/>' if path else ""


def _words(text: str, x: float, y: float, colour: str, style: Style | None) -> str:
    """Text that is as wide as its columns, whatever font there is."""
    start = len(text) - len(text.lstrip())
    shown = text.strip()
    weight = ' font-weight="600"' if style and style.bold else ""
    slant = ' font-style="italic"' if style and style.italic else ""
    place = f'x="{x + start * WIDE:.1f}" y="{y + HIGH * 0.74:.1f}" textLength="{cell_len(shown) * WIDE:.1f}"'
    return f'<text {place} fill="{colour}"{weight}{slant} xml:space="preserve">{escape(shown)}</text>'


def _box(x: float, y: float, width: float, height: float, colour: str, opacity: float = 1) -> str:
    faint = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"{faint}/>'


def _colour(style: Style | None, which: str) -> str:
    found = getattr(style, which) if style else None
    return COLOURS.get(found.name, "") if found else ""
