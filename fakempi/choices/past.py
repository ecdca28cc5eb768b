"""What came before: of each task, message and receive, the choices on which it hangs, as bits of one integer.

There are two such integers. `past` is what an event certainly comes after: bits are missing where we did not see how one
thing led to another, and none is there wrongly. `touched` is kept by process and errs the other way: whatever a choice may
have had an influence on is touched by it.
"""

from __future__ import annotations

from typing import Any


class Life:
    """A task: who it is, in a way that is the same in each run; its past; how much it has sent, awaited and asked, what it
    was answered, and when it went on."""

    __slots__ = ("answers", "asked", "awaited", "children", "key", "past", "sent", "times")

    def __init__(self, key: tuple[int, ...], past: int) -> None:
        self.key, self.past = key, past
        self.sent = self.awaited = self.asked = self.children = self.answers = self.times = 0


class Half:
    """An envelope or a pattern: who it is, what it hangs on, and, once it is matched, what its owner learns by its end."""

    __slots__ = ("key", "learned", "number", "past", "touched")

    def __init__(self, key: Any, past: int, touched: int, number: int) -> None:
        self.key, self.past, self.touched = key, past, touched
        self.number = number  # among all that its process did
        self.learned = 0


def union(masks: Any) -> int:
    """All bits of them; what is not known counts for nothing."""
    found = 0
    for mask in masks:
        found |= mask or 0
    return found
