"""Tasks with their futures, and a queue of tasks."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

TASK_ERRORS = (Exception, SystemExit)
"""Exceptions of a task that its future receives. Exceptions that end a run, such as Ctrl-C or Abort, are not included."""


class SubmittedTask(NamedTuple):
    """A call and its future."""

    future: Future[Any]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def start(self) -> bool:
        """Mark the future as running; return False if it has been canceled."""
        return self.future.set_running_or_notify_cancel()


class TaskQueue:
    """A queue of tasks, with None after the last. `condition` protects it."""

    def __init__(self, condition: threading.Condition | None = None) -> None:
        self.condition = condition or threading.Condition()
        self.items: deque[SubmittedTask | None] = deque()

    def put(self, item: SubmittedTask | None) -> None:
        """Add a task, or None at the end, and notify waiting threads."""
        with self.condition:
            self.items.append(item)
            self.condition.notify_all()

    def pop(self) -> SubmittedTask | None:
        """Remove and return the first item; IndexError if the queue is empty."""
        return self.items.popleft()

    def get(self) -> SubmittedTask | None:
        """Wait for an item, remove it and return it."""
        with self.condition:
            self.condition.wait_for(lambda: self.items)
            return self.items.popleft()

    def clear(self) -> list[SubmittedTask]:
        """Remove and return all tasks, but keep None."""
        with self.condition:
            tasks = [item for item in self.items if item is not None]
            ended = len(tasks) < len(self.items)
            self.items.clear()
            if ended:
                self.items.append(None)
            return tasks

    def __len__(self) -> int:
        return len(self.items)
