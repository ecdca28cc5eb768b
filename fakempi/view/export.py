"""Export views as SVG: paths and text in system fonts, on white, for print.

A `Drawing` (made by `fakempi.view.drawing`) is included unchanged. Other views are text in columns; their block, shade and
braille characters become shapes. The file loads nothing from the network. To convert it to PDF, run
`rsvg-convert -f pdf picture.svg > picture.pdf`.
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
COLORS = {
    "blue": "#2a66ad", "bright_blue": "#3f7fca", "bright_yellow": "#f4e1a6", "yellow": "#c9a227", "green": "#45ad91",
    "bright_black": "#8a919c", "bright_cyan": "#55bcd9", "cyan": "#2f9db5", "bright_red": "#c9552f", "red": "#c9552f",
    "magenta": "#a8326e", "bright_white": INK, "white": INK,
}  # fmt: skip
"""Terminal color -> color in print. Most color-blind people can distinguish the printed colors."""

WIDE, HIGH = 7.8, 17.0
"""Width and height of a character in pixels."""
_LEVELS = {character: level / 8 for level, character in enumerate(" ▁▂▃▄▅▆▇█")}
_SHADES = {"░": 0.3, "▒": 0.6, "▓": 0.8}
_FILLED = set(_LEVELS) | set(_SHADES)


class Drawing(NamedTuple):
    """A part of an SVG picture: its size in pixels, and its shapes as SVG."""

    width: float
    height: float
    shapes: str


def to_svg(*views: RenderableType | Drawing, width: int = 80, title: str = "") -> str:
    """Return an SVG picture of the views, one below the other."""
    parts, y, widest = [], 0.0, 0.0
    for view in ((title,) if title else ()) + views:
        drawn = view if isinstance(view, Drawing) else _text_drawing(view, width)
        parts.append(f'<g transform="translate(16 {y + 12:g})">{drawn.shapes}</g>')
        y, widest = y + drawn.height, max(widest, drawn.width)
    size = f'viewBox="0 0 {widest + 32:g} {y + 24:g}" width="{widest + 32:g}" height="{y + 24:g}"'
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    font = f'font-family="{MONO}" font-size="13" shape-rendering="crispEdges"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{background}{"".join(parts)}</svg>\n'


def _text_drawing(view: RenderableType, width: int) -> Drawing:
    """Return a view as shapes and text."""
    console = Console(width=width, file=StringIO(), force_terminal=True, color_system="standard", highlight=False)
    lines = console.render_lines(view, console.options.update(width=width), pad=False)
    shapes = "".join(shape for row, line in enumerate(lines) for shape in _line(line, row * HIGH))
    widest = max((Segment.get_line_length(line) for line in lines), default=0)
    return Drawing(widest * WIDE, len(lines) * HIGH, shapes)


def _line(line: list[Segment], y: float) -> Iterator[str]:
    """Yield the shapes and texts of a line."""
    column = 0
    for text, style, _ in line:
        x, color, background = column * WIDE, _color(style, "color"), _color(style, "bgcolor")
        column += cell_len(text)
        if background:
            yield _box(x, y + 1, len(text) * WIDE, HIGH - 2, background)
        if set(text) <= (_FILLED | {"·"} if background else _FILLED):
            yield from _blocks(text, x, y, color or INK, background)
        elif all("⠀" <= character <= "⣿" or character == " " for character in text):
            yield _dots(text, x, y, color or INK)
        elif text.strip():
            yield _words(text, x, y, color or INK, style)


def _blocks(text: str, x: float, y: float, color: str, background: str) -> Iterator[str]:
    """Yield a box for each run of equal block characters."""
    first = 0
    for index in range(1, len(text) + 1):
        if index < len(text) and text[index] == text[first]:
            continue
        opacity = _SHADES.get(text[first])
        level = 1.0 if opacity else _LEVELS.get(text[first], 0.0)
        if level and color != background:
            height = (HIGH - 2) * level
            yield _box(x + first * WIDE, y + HIGH - 1 - height, (index - first) * WIDE, height, color, opacity or 1)
        first = index


def _dots(text: str, x: float, y: float, color: str) -> str:
    """Return braille characters as dots."""
    path = []
    for index, character in enumerate(text):
        bits = ord(character) - 0x2800 if character != " " else 0
        for dot, (across, down) in enumerate(((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))):
            if bits >> dot & 1:
                path.append(f"M{x + (index + 0.25 + 0.5 * across) * WIDE:.1f} {y + (down + 0.5) * HIGH / 4:.1f}h0")
    return f'<path d="{"".join(path)}" stroke="{color}" stroke-width="2.4" stroke-linecap="round"/>' if path else ""


def _words(text: str, x: float, y: float, color: str, style: Style | None) -> str:
    """Return an SVG text that fills its columns exactly, whatever the font."""
    start = len(text) - len(text.lstrip())
    shown = text.strip()
    weight = ' font-weight="600"' if style and style.bold else ""
    slant = ' font-style="italic"' if style and style.italic else ""
    place = f'x="{x + start * WIDE:.1f}" y="{y + HIGH * 0.74:.1f}" textLength="{cell_len(shown) * WIDE:.1f}"'
    return f'<text {place} fill="{color}"{weight}{slant} xml:space="preserve">{escape(shown)}</text>'


def _box(x: float, y: float, width: float, height: float, color: str, opacity: float = 1) -> str:
    fill_opacity = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"{fill_opacity}/>'


def _color(style: Style | None, attribute: str) -> str:
    """Return the printed `color` or `bgcolor` of a style; empty if the style has none."""
    terminal_color = getattr(style, attribute) if style else None
    return COLORS.get(terminal_color.name, "") if terminal_color else ""
