"""Causal records of tasks and messages: which choices of the run each of them depends on.

A set of choices is a bit mask: bit k stands for the k-th choice of the run (`Choices.steps[k]`). There are two kinds:

* `past`, for each task and message, contains only choices that certainly happened before it. A choice may be missing if the
  dependency on it was not observed.
* `touched`, for each process, contains every choice that may have influenced the process. It may contain too many choices,
  but none is missing.
"""

from __future__ import annotations

from typing import Any


class TaskRecord:
    """A task.

    Attributes
    ----------
    key : identifies the task; the same in every run along the same path
    past : the choices that certainly happened before the task's next action
    sent, awaited, calls, children : how many sends, receives, calls with a choice, and child tasks it has started
    answers : a digest of the values that its calls have returned
    times : a digest of the times at which it continued after a wait
    hashed, digest : the counts and digests above at the last state hash, and the digest of them
    """

    __slots__ = ("answers", "awaited", "calls", "children", "digest", "hashed", "key", "past", "sent", "times")

    def __init__(self, key: tuple[int, ...], past: int) -> None:
        self.key, self.past = key, past
        self.sent = self.awaited = self.calls = self.children = self.answers = self.times = 0
        self.hashed: Any = None
        self.digest = 0


class MessageRecord:
    """A sent message (`Envelope`) or a posted receive (`PostedReceive`).

    Attributes
    ----------
    key : identifies the message or receive; the same in every run along the same path
    past : the choices that certainly happened before the send or the receive was posted
    touched : the choices that may have influenced the process when it posted the send or receive
    number : its position among the actions of its process
    learned : after the match, the past of the other side: a task that sees the completion depends on these choices, too
    """

    __slots__ = ("key", "learned", "number", "past", "touched")

    def __init__(self, key: Any, past: int, touched: int, number: int) -> None:
        self.key, self.past, self.touched = key, past, touched
        self.number, self.learned = number, 0


def union(masks: Any) -> int:
    """Return the union of bit masks; None counts as empty."""
    result = 0
    for mask in masks:
        result |= mask or 0
    return result
