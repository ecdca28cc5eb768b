"""Sockets while scripts run: a rank that waits for a socket lets other ranks run, since one of them may be its peer.

All ranks are in one process, so a blocking system call would block all of them. A rank polls its socket and lets other
ranks run while any of them can. When none can, it blocks, because the peer must be outside the run. Socket time-outs are
real time.
"""

from __future__ import annotations

import functools
import select
from collections.abc import Callable
from typing import Any

from fakempi.extensions.threads.current import current_task
from fakempi.isolation.patches import Patches

BLOCKING_CALLS = ("accept", "recv", "recv_into", "recvfrom", "recvfrom_into")
"""Methods that wait for the peer."""

IDLE_ROUNDS = 10
"""Polling rounds without progress of any other rank after which a rank blocks in the system call."""


class Sockets:
    """Patches for the module `socket`."""

    def __init__(self, patches: Patches) -> None:
        self.patches = patches
        self.hooks = {"socket": self._socket}

    def _socket(self, module: Any) -> None:
        for name in BLOCKING_CALLS:
            self.patches.set(module.socket, name, _polling_first(getattr(module.socket, name)))


def _polling_first(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        task = current_task()
        if task is not None and self.gettimeout() is None:
            loop = task.agenda
            while loop.idle_rounds < IDLE_ROUNDS and not select.select([self], [], [], 0)[0]:
                loop.poll()
        return original(self, *args, **named)

    return call
