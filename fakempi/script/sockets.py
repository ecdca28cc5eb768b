"""Sockets while scripts run: who waits at one lets other ranks run, since one of them may be at its other end.

All ranks are in one process, and one that the operating system keeps waiting keeps all of them. So a rank looks at its
socket, and lets others run for as long as they have anything to do. When they have not, it waits as ever, for somebody
outside. Time-outs of sockets are real time, as what is outside is.
"""

from __future__ import annotations

import functools
import select
from collections.abc import Callable
from typing import Any

from fakempi.script.patches import Patches
from fakempi.threads.here import task_here

WAITING = ("accept", "recv", "recv_into", "recvfrom", "recvfrom_into")
"""Calls that wait for the other end."""

IDLE = 10
"""Rounds in which nobody else does anything, after which a rank waits for real."""


class Sockets:
    """What the module `socket` does while scripts run."""

    def __init__(self, patches: Patches) -> None:
        self.patches = patches
        self.hooks = {"socket": self._socket}

    def _socket(self, module: Any) -> None:
        for name in WAITING:
            self.patches.set(module.socket, name, _looking_first(getattr(module.socket, name)))


def _looking_first(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        task = task_here()
        if task is not None and self.gettimeout() is None:
            loop = task.agenda
            while loop.idle_rounds < IDLE and not select.select([self], [], [], 0)[0]:
                loop.poll()
        return original(self, *args, **named)

    return call
