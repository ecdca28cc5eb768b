"""Rules that suppress findings, from a comment, an entry in pyproject.toml, or an option."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fakempi.core.reports.findings import KINDS
from fakempi.errors.similar import get_close_matches

ENDS = ("deadlock", "livelock", "timeout", "exception", "abort", "death", "mpi-error", "error")
"""Names of errors that end a run. They are not findings: a run cannot continue after them."""


LONGEST = 80
"""Longer kinds are not compared with the known ones."""


@dataclass(frozen=True)
class Suppression:
    """A rule: findings of a kind are suppressed, in a file, a function or lines only if the rule names them.

    `file` is the path of a comment's file, or a pattern for the end of a path (`schwimmbad/mpi.py`, `tests/*.py`).
    """

    kind: str
    origin: str  # "the comment at ring.py:12", "pyproject.toml", "--ignore"
    file: str = ""
    function: str = ""
    reason: str = ""
    lines: tuple[int, int] | None = None  # of a comment's statement

    @property
    def text(self) -> str:
        """Where the finding is suppressed and why, as reports show it."""
        return f"{self.origin}: {self.reason}" if self.reason else self.origin

    def __str__(self) -> str:
        if self.lines is not None:
            return f"{self.origin} ({self.kind})"
        parts = [("kind", self.kind), ("file", self.file), ("function", self.function)]
        if not (self.file or self.function):
            return f"{self.origin} {self.kind}"
        return f"{self.origin}: {', '.join(f'{name} {value}' for name, value in parts if value)}"


@lru_cache(256)  # a program may have the same comment on thousands of lines
def problem_with(kind: str) -> str:
    """Return the reason why findings of a kind cannot be suppressed; empty if they can be."""
    if len(kind) > LONGEST:
        return f"the kind {kind[:LONGEST]!r}... is unknown; fakempi explain lists the kinds."
    if kind in KINDS:
        return ""
    if not kind:
        return "name the kind, such as ignore[message-lost]; a suppression of all kinds would hide new errors"
    if kind.lower() in ENDS or kind.endswith("Error"):
        return f"{kind} is not a kind of finding: it ends the run, so it cannot be suppressed"
    by_words = {_words(known): known for known in KINDS}
    close = get_close_matches(kind, KINDS, 1) or [by_words[one] for one in get_close_matches(_words(kind), by_words, 1)]
    hint = f"did you mean {close[0]}?" if close else "fakempi explain lists the kinds."
    return f"the kind {kind!r} is unknown; {hint}"


def _words(kind: str) -> str:
    """Return the words of a kind in one order, for `lost-message` and `message_lost`."""
    return "-".join(sorted(kind.lower().replace("_", "-").split("-")))
