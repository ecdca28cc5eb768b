"""What the methods of `queue.SimpleQueue` do while runs go on: it is written in C, and waits there.

Pools of threads take their work from one. All other queues are made of locks.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import Any

from fakempi.threads.here import task_here
from fakempi.threads.waiting import look_again, wait_for, waiting, wake_one

_get, _put = SimpleQueue.get, SimpleQueue.put
COMPILED = SimpleQueue.__module__ == "_queue"
"""Whether there is one in C; if not, it is made of locks."""


def get(queue: Any, block: bool = True, timeout: float | None = None) -> Any:
    """`SimpleQueue.get`."""
    task = task_here()
    if task is None or (block and timeout is not None and timeout < 0):
        return _get(queue, block, timeout)
    until = None if timeout is None else task.agenda.now + timeout
    in_time = True
    while True:
        try:
            return _get(queue, False)
        except Empty:
            if not block:
                look_again(task)
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
    if waiting and id(queue) in waiting:
        wake_one(queue, task_here())


def put_nowait(queue: Any, item: Any) -> None:
    """`SimpleQueue.put_nowait`."""
    put(queue, item)


METHODS: dict[type, dict[str, Any]] = (
    {SimpleQueue: {"get": get, "get_nowait": get_nowait, "put": put, "put_nowait": put_nowait}} if COMPILED else {}
)
"""By type."""
