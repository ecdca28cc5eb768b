"""Parse MSCCL XML into nested elements with line numbers. Documents with a DTD or entity declarations are rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from collectives.schedules.errors import InvalidScheduleError

LEVELS = ("algo", "gpu", "tb", "step")
"""The names of the nested elements, the outermost first."""

MAX_NUMBER = 1 << 24
"""Largest accepted rank, offset and number of chunks."""


@dataclass
class Element:
    """An XML element: its name, line number, attributes and child elements."""

    name: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)

    def text(self, name: str, default: str | None = None) -> str:
        """Return the value of an attribute. Raises InvalidScheduleError if it is missing and has no default."""
        value = self.attributes.get(name, default)
        if value is None:
            raise InvalidScheduleError(f"line {self.line}: <{self.name}> has no attribute {name!r}")
        return value

    def number(self, name: str, default: int | None = None, least: int = 0) -> int:
        """Return the value of an integer attribute, which must be between `least` and MAX_NUMBER."""
        text = self.text(name, None if default is None else str(default))
        try:
            value = int(text) if len(text) < 12 else MAX_NUMBER + 1
        except ValueError:
            raise InvalidScheduleError(f"line {self.line}: {name}={text[:20]!r} is not a whole number") from None
        if not least <= value <= MAX_NUMBER:
            raise InvalidScheduleError(f"line {self.line}: {name}={text[:20]} is not between {least} and {MAX_NUMBER}")
        return value

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Return the value of an attribute, which must be one of `choices`."""
        text = self.text(name)
        if text not in choices:
            raise InvalidScheduleError(f"line {self.line}: {name}={text[:20]!r} is not one of {', '.join(choices)}")
        return text


def parse(text: str) -> tuple[Element, list[str]]:
    """Return the element `algo` and the comments of a document."""
    parser = expat.ParserCreate()
    stack: list[Element] = []
    roots: list[Element] = []
    comments: list[str] = []

    def reject(*arguments: object) -> NoReturn:
        raise InvalidScheduleError(
            f"line {parser.CurrentLineNumber}: document type and entity declarations are not accepted"
        )

    def start(name: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(stack) >= len(LEVELS) or name != LEVELS[len(stack)]:
            expected = f"<{LEVELS[len(stack)]}>" if len(stack) < len(LEVELS) else "no element"
            raise InvalidScheduleError(f"line {line}: <{name[:30]}> where {expected} is expected")
        element = Element(name, line, attributes)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    parser.StartElementHandler, parser.EndElementHandler = start, lambda name: stack.pop()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = reject
    parser.CommentHandler = comments.append
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise InvalidScheduleError(f"line {error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}") from None
    return roots[0], comments
