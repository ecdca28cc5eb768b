"""Workers of multiprocessing that are not forked from the rank (spawn, forkserver): they end with the rank's run.

Such a worker is another program, without fakempi. It first loads data that its rank has pickled: an object among them opens
the rank's lifeline, and has the kernel end the worker with it. Only Linux can do that.
"""

from __future__ import annotations

import os
from typing import Any

from fakempi.core.import_hooks import ImportHooks

OPEN_LIFELINE = """
import fcntl, os, select
try:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
except FileNotFoundError:  # the rank has ended
    if os.path.exists("/proc/self/fd"):
        os._exit(1)
except OSError:
    pass
else:
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(fd, 0)
    if poll.poll(0):  # it has been closed meanwhile
        os._exit(1)
"""


class Lifeline:
    """An object that is unpickled by executing `OPEN_LIFELINE`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return exec, (OPEN_LIFELINE, {"path": self.path})


def end_workers_with(lifeline: int, hooks: ImportHooks) -> None:
    """End workers that are started later when the parent's end of the lifeline is closed."""
    from fakempi.isolation.workers import FAMILY

    sent = Lifeline(f"/proc/{os.getpid()}/fd/{lifeline}")

    def change(module: Any) -> None:
        original = getattr(module, "get_preparation_data", None)
        if original is not None:
            module.get_preparation_data = lambda name: {"fakempi": sent, **original(name)}

    for family in FAMILY:
        hooks.add(f"{family}.spawn", change)
