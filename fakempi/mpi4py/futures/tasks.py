"""What is to be done: tasks in a queue, with the futures that wait for their results."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

CAUGHT = (Exception, SystemExit)
"""What a task raises for its future. Not what ends a run, such as Ctrl-C or Abort, which derives from BaseException."""


class Task(NamedTuple):
    """A call, and who waits for it."""

    future: Future[Any]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def begins(self) -> bool:
        """Whether it is to be done: it is not if somebody has cancelled it."""
        return self.future.set_running_or_notify_cancel()


class TaskQueue:
    """Tasks in order, and None after the last. `changed` is the condition under which all that concerns them changes."""

    def __init__(self, changed: threading.Condition | None = None) -> None:
        self.changed = changed or threading.Condition()
        self.items: deque[Task | None] = deque()

    def put(self, item: Task | None) -> None:
        """Add one, and wake whoever waits for it."""
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()

    def pop(self) -> Task | None:
        """Take the first; IndexError if there is none."""
        return self.items.popleft()

    def get(self) -> Task | None:
        """Take the first, once there is one."""
        with self.changed:
            self.changed.wait_for(lambda: self.items)
            return self.items.popleft()

    def clear(self) -> list[Task]:
        """Take all tasks, and leave the None."""
        with self.changed:
            tasks = [item for item in self.items if item is not None]
            ended = len(tasks) < len(self.items)
            self.items.clear()
            if ended:
                self.items.append(None)
            return tasks

    def __len__(self) -> int:
        return len(self.items)
