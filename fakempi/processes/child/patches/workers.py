"""Workers of multiprocessing that are not forked from the rank (spawn, forkserver): they end with the rank's run.

Such a worker is another program, without fakempi. It first loads data that its rank has pickled: an object among them opens
the rank's lifeline, and has the kernel end the worker with it. Only Linux can do that.
"""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from typing import Any

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


class EndWorkers(MetaPathFinder):
    """A finder for the modules that start workers: once one is loaded, what it sends to a worker contains the lifeline."""

    def __init__(self, families: tuple[str, ...], lifeline: int) -> None:
        self.names = {f"{family}.spawn" for family in families}
        self.lifeline = Lifeline(f"/proc/{os.getpid()}/fd/{lifeline}")

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Find one of these modules; other modules are left to the other finders."""
        if name not in self.names:
            return None
        self.names.remove(name)
        spec: Any = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                self._add_to(module)

            spec.loader.exec_module = exec_module
        return spec

    def _add_to(self, module: Any) -> None:
        original = getattr(module, "get_preparation_data", None)
        if original is None:
            return

        def get_preparation_data(name: str) -> Any:
            return {"fakempi": self.lifeline, **original(name)}

        module.get_preparation_data = get_preparation_data


def end_workers_with(lifeline: int) -> None:
    """End workers that are started later when the parent's end of the lifeline is closed."""
    from fakempi.isolation.workers import FAMILY

    sys.meta_path.insert(0, EndWorkers(FAMILY, lifeline))
