"""Tokens of GOAL: numbers, words and marks, with any white space and any comments between them.

A comment of fakempi is not skipped: the one about the schedule is in `header`, the one about a step in the token after it.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.goal.writing import HEADER, NOTE

_TOKEN: Final = re.compile(
    r"[ \t\r\n\v\f]*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>-?[0-9]+)|(?P<mark>[{}:])"
    r"|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<open>/\*)|(?P<other>[^ \t\r\n\v\f])|(?P<end>\Z))",
    re.DOTALL,
)
"""A match at each position: without `end`, white space at the end would be searched in quadratic time."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
MAX_DIGITS: Final = 15
"""Longer numbers of bytes, tags and nanoseconds are rejected."""


class Note(NamedTuple):
    """The properties of a step in a comment of fakempi, and where the comment is."""

    data: dict[str, Any]
    position: int


class Token(NamedTuple):
    """A token: its kind ("number", "word", "mark", or "end" after the last one), text and position, and a comment before it.

    The position is an index into the text; `Tokens.error` turns it into a line and a column.
    """

    kind: str
    text: str
    position: int
    note: Note | None = None

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else repr(self.text[:60])


class Tokens:
    """The tokens of a text, read one after the other.

    Attributes
    ----------
    header : the properties of the schedule, from a comment of fakempi; empty without one
    """

    def __init__(self, text: str) -> None:
        self.header: dict[str, Any] = {}
        self._text = text
        self._scanned = self._scan()
        self._ahead: deque[Token] = deque()

    def peek(self, distance: int = 0) -> Token:
        """Return a token without taking it: the next one, or one that is further ahead."""
        while len(self._ahead) <= distance:
            self._ahead.append(next(self._scanned))
        return self._ahead[distance]

    def take(self) -> Token:
        """Return the next token and go on to the one after it."""
        return self._ahead.popleft() if self._ahead else next(self._scanned)

    def expect(self, *words: str) -> Token:
        """Take a word or mark, which must be one of `words`."""
        token = self.take()
        if token.text not in words or token.kind == "end":
            raise self.error(token.position, f"expected {_listed(words)}, not {token}")
        return token

    def number(self, what: str) -> int:
        """Take a number; `what` describes it in an error."""
        token = self.take()
        if token.kind != "number":
            raise self.error(token.position, f"expected {what}, not {token}")
        if len(token.text) > MAX_DIGITS:
            raise self.error(token.position, f"the number {token.text[:20]}... is too large")
        return int(token.text)

    def error(self, position: int, message: str) -> InvalidScheduleError:
        """Return an error with the line and the column of a position."""
        ends = [match.end() for match in _LINE_END.finditer(self._text, 0, position)]
        column = position - (ends[-1] if ends else 0) + 1
        return InvalidScheduleError(f"line {len(ends) + 1}, column {column}: {message}")

    def _scan(self) -> Iterator[Token]:
        """Yield the tokens, and the end of the text again and again."""
        note: Note | None = None
        for match in _TOKEN.finditer(self._text):
            kind = match.lastgroup or "other"
            text, position = match[kind], match.start(kind)
            if kind in ("word", "number", "mark"):
                yield Token(kind, text, position, note)
                note = None
            elif kind == "end":
                break
            elif kind == "open":
                raise self.error(position, "the comment has no end: expected */")
            elif kind == "other":
                raise self.error(position, f"unexpected character {text!r}")
            elif text.startswith(HEADER):
                self.header = self._json(text[len(HEADER) :], position)
            elif text.startswith(NOTE):
                note = Note(self._json(text[len(NOTE) :], position), position)
        while True:
            yield Token("end", "", len(self._text), note)

    def _json(self, text: str, position: int) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.error(position, f"the comment is not valid JSON: {error}") from None
        if not isinstance(value, dict):
            raise self.error(position, "the comment must be a JSON object")
        return value


def _listed(words: tuple[str, ...]) -> str:
    """Join words as in "a, b or c"."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
