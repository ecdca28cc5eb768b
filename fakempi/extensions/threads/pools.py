"""Thread pools (`concurrent.futures`) of ranks: their clock, their log, and their end.

The module may be loaded at any time, so `patch` looks for it whenever a rank starts a thread.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from fakempi.core.kernel.loop import Ended
from fakempi.core.kernel.task import Task
from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.raw import monotonic

if TYPE_CHECKING:
    from logging import LogRecord


def clock() -> float:
    """Return the modeled time in a rank, else the real time: the clock by which time-outs are measured."""
    task = current_task()
    return monotonic() if task is None else float(task.agenda.now)


class _Time:
    """Replaces the module `time` in modules that call `time.monotonic`."""

    monotonic = staticmethod(clock)

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules["time"], name)


def _is_failure(record: LogRecord) -> bool:
    """Return whether a worker of a pool has failed, rather than ended with its run."""
    return record.exc_info is None or not isinstance(record.exc_info[1], Ended)


class _Patched:
    """The module `concurrent.futures._base` while it is patched, and its original `time`."""

    module: Any = None
    time: Any = None


def patch() -> None:
    """If the module is loaded: let time-outs of pools take modeled time, and do not log the end of a run as an error."""
    module: Any = sys.modules.get("concurrent.futures._base")
    if module is None or _Patched.module is not None:
        return
    _Patched.module, _Patched.time = module, module.time
    module.time = _Time()
    module.LOGGER.addFilter(_is_failure)


def undo() -> None:
    """Undo `patch`."""
    module = _Patched.module
    if module is not None:
        module.time, _Patched.module = _Patched.time, None
        module.LOGGER.removeFilter(_is_failure)


def close(tasks: list[Task]) -> None:
    """Shut down the pools of one rank, as `concurrent.futures` does when Python ends."""
    module: Any = sys.modules.get("concurrent.futures.thread")
    queues = {} if module is None else module._threads_queues
    for task in tasks:
        thread = task.handle.thread
        queue = None if thread is None else queues.get(thread)
        if queue is not None and not task.handle.has_ended:
            executor = thread._args[0]()
            if executor is not None:
                executor._shutdown = True
            queue.put(None)
