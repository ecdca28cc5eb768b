"""What pools of threads (`concurrent.futures`) take for granted of Python, and ranks have otherwise.

The module may be loaded at any time, so it is looked for whenever a rank starts a thread.
"""

from __future__ import annotations

import sys
from typing import Any

from fakempi.kernel.loop import Ended
from fakempi.kernel.task import Task
from fakempi.threads.here import task_here
from fakempi.threads.raw import monotonic

_before: list[tuple[Any, str, Any]] = []


def clock() -> float:
    """In place of the clock by which what is left of a time-out is reckoned."""
    task = task_here()
    return monotonic() if task is None else float(task.agenda.now)


class _Time:
    """In place of the module `time`, where somebody asks it for that clock."""

    monotonic = staticmethod(clock)

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules["time"], name)


def follow() -> None:
    """If pools are loaded: they reckon in modelled time, and do not complain of a run's end."""
    module: Any = sys.modules.get("concurrent.futures._base")
    if module is None or _before:
        return
    critical = module.LOGGER.critical

    def complain(*args: Any, **kwargs: Any) -> None:
        if not isinstance(sys.exc_info()[1], Ended):
            critical(*args, **kwargs)

    for owner, name, value in ((module, "time", _Time()), (module.LOGGER, "critical", complain)):
        _before.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)


def undo() -> None:
    """No run goes on any more."""
    while _before:
        owner, name, value = _before.pop()
        setattr(owner, name, value)


def close(tasks: list[Task]) -> None:
    """What `concurrent.futures` does when Python ends, for the pools of one rank: no more work comes."""
    module: Any = sys.modules.get("concurrent.futures.thread")
    queues = {} if module is None else module._threads_queues
    for task in tasks:
        thread = task.handle.thread
        queue = None if thread is None else queues.get(thread)
        if queue is not None and not task.handle.over:
            executor = thread._args[0]()
            if executor is not None:
                executor._shutdown = True
            queue.put(None)
