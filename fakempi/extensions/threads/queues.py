"""Replacements for the methods of `queue.SimpleQueue` (changes.py), which is written in C and would block its OS thread.

Thread pools use such a queue for their work items. Other queues are written in Python and use locks (locks.py).
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import Any

from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.waiting import count_unsuccessful, is_awaited, wait_for, wake_one

_get, _put = SimpleQueue.get, SimpleQueue.put
COMPILED = SimpleQueue.__module__ == "_queue"
"""Whether the class in C is available; the class in Python uses locks."""


def get(queue: Any, block: bool = True, timeout: float | None = None) -> Any:
    """`SimpleQueue.get`."""
    task = current_task()
    if task is None or (block and timeout is not None and timeout < 0):
        return _get(queue, block, timeout)
    until = None if timeout is None else task.agenda.now + timeout
    in_time = True
    while True:
        try:
            return _get(queue, False)
        except Empty:
            if not block:
                count_unsuccessful(task)
            if not (block and in_time):
                raise
        rest = None if until is None else until - task.agenda.now
        in_time = wait_for(task, queue, rest, lambda: not queue.empty())


def get_nowait(queue: Any) -> Any:
    """`SimpleQueue.get_nowait`."""
    return get(queue, False)


def put(queue: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
    """`SimpleQueue.put`, which never waits."""
    _put(queue, item)
    if is_awaited(queue):
        wake_one(queue, current_task())


def put_nowait(queue: Any, item: Any) -> None:
    """`SimpleQueue.put_nowait`."""
    put(queue, item)


METHODS: dict[type, dict[str, Any]] = (
    {SimpleQueue: {"get": get, "get_nowait": get_nowait, "put": put, "put_nowait": put_nowait}} if COMPILED else {}
)
"""Type -> name of a method -> its replacement."""
