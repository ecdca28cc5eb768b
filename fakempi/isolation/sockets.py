"""Sockets while scripts run: a rank that waits for a socket lets other ranks run, since one of them may be its peer.

In one process, a blocking system call would block all ranks; with a process for each rank, the parent waits for the rank
that has its turn. A rank therefore polls its socket and lets other ranks run in between. When none makes progress, it waits
in system calls of at most `LONGEST_NAP` seconds, because its peer may be outside the run, or may wait for a socket, too.
Socket time-outs are real time. The same applies to `select.select`, to connections of multiprocessing, and to the selectors
that asyncio, socketserver and subprocess use. This module imports nothing of fakempi, since children import it, too.
"""

from __future__ import annotations

import functools
import select
from collections.abc import Callable
from time import monotonic
from typing import Any

BLOCKING_CALLS = ("accept", "recv", "recv_into", "recvfrom", "recvfrom_into")
"""Methods that wait for the peer."""

IDLE_ROUNDS = 10
"""Polling rounds without progress of any other rank after which a rank waits in system calls."""

SHORTEST_NAP, LONGEST_NAP = 0.001, 0.05

_poll = select.poll if hasattr(select, "poll") else None
_select = select.select


class Sockets:
    """Patches for modules; `hooks` are to be called with them.

    `set` replaces an attribute. `let_others_run` returns whether one of them makes progress, None if the caller is no rank.
    """

    def __init__(self, set: Callable[[Any, str, Any], None], let_others_run: Callable[[], bool | None]) -> None:
        self.set, self.let_others_run = set, let_others_run
        self.hooks = {
            "socket": self._socket, "select": self._select, "selectors": self._selectors,
            "multiprocessing.connection": self._connection,
        }  # fmt: skip

    def _socket(self, module: Any) -> None:
        for name in BLOCKING_CALLS:
            self.set(module.socket, name, self._receiving(getattr(module.socket, name)))

    def _receiving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(sock: Any, *args: Any, **named: Any) -> Any:
            timeout = 0 if original.__name__ in ("recv", "recv_into") and _is_empty(*args) else sock.gettimeout()
            if timeout != 0 and not self._wait(lambda seconds: _is_readable(sock, seconds), timeout, bool):
                raise TimeoutError("timed out")
            return original(sock, *args, **named)

        return call

    def _connection(self, module: Any) -> None:
        original = module.Connection._recv

        @functools.wraps(original)
        def receive(connection: Any, size: int, *args: Any, **named: Any) -> Any:
            if size > 0:  # for an empty message, nothing follows its size
                self._wait(lambda seconds: _is_readable(connection, seconds), None, bool)
            return original(connection, size, *args, **named)

        self.set(module.Connection, "_recv", receive)

    def _select(self, module: Any) -> None:
        original = module.select

        @functools.wraps(original)
        def call(readers: Any, writers: Any, others: Any, timeout: float | None = None, /) -> Any:
            files = [list(group) for group in (readers, writers, others)]
            return self._wait(lambda seconds: original(*files, seconds), timeout, any)

        self.set(module, "select", call)

    def _selectors(self, module: Any) -> None:
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and issubclass(kind, module._BaseSelectorImpl) and "select" in vars(kind):
                self.set(kind, "select", self._selecting(vars(kind)["select"]))

    def _selecting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(selector: Any, timeout: float | None = None) -> Any:
            return self._wait(functools.partial(original, selector), timeout, bool)

        return call

    def _wait(self, wait: Callable[[float | None], Any], timeout: float | None, is_ready: Callable[[Any], bool]) -> Any:
        """Return `wait(timeout)`, a function that waits at most that many seconds; meanwhile other ranks run."""
        end, nap = None if timeout is None else monotonic() + timeout, 0.0
        while True:
            left = None if end is None else max(end - monotonic(), 0)
            found = wait(nap if left is None else min(nap, left))
            if is_ready(found) or left == 0:
                return found
            progress = self.let_others_run()
            if progress is None:
                return wait(left)
            nap = 0.0 if progress else min(max(2 * nap, SHORTEST_NAP), LONGEST_NAP)


def _is_empty(target: Any = None, *args: Any) -> bool:
    """Return whether `recv` or `recv_into` receives no bytes: at most 0, or an empty buffer. Python does not wait then."""
    return target is not None and not (target if isinstance(target, int) else memoryview(target).nbytes)


def _is_readable(file: Any, seconds: float | None) -> bool:
    if _poll is None:
        return bool(_select([file], [], [], seconds)[0])
    ready = _poll()  # unlike `select`, for any descriptor
    ready.register(file, select.POLLIN)
    return bool(ready.poll(None if seconds is None else seconds * 1000))


def poll_outside(loop: Any) -> bool:
    """Let other ranks run while one waits for an event outside MPI; return whether one makes progress.

    Polls are counted up to `IDLE_ROUNDS` only: the event may still come, so this is no livelock.
    """
    loop.idle_rounds = min(loop.idle_rounds, IDLE_ROUNDS)
    loop.poll()
    return bool(loop.idle_rounds < IDLE_ROUNDS)
