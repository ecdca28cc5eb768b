"""Sockets of a child: while a rank waits for a socket, other ranks run, as they do in one process. Also `Comm.Join`."""

from __future__ import annotations

import functools
import select
import socket
from collections.abc import Callable
from typing import Any

BLOCKING_CALLS = ("accept", "recv", "recv_into", "recvfrom", "recvfrom_into")
"""Methods that wait for the peer."""


def let_others_run_first(can_call: Callable[[], bool], let_others_run: Callable[[], bool]) -> None:
    """Replace the methods that wait for the peer: they first let other ranks run, as long as one can run.

    If another thread is in a call, others run anyway, and a process that the rank has forked cannot call.
    """

    def polling_first(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            ready = select.poll()
            ready.register(self, select.POLLIN)
            while self.gettimeout() is None and not ready.poll(0) and can_call() and let_others_run():
                pass
            return original(self, *args, **kwargs)

        return call

    for name in BLOCKING_CALLS:
        setattr(socket.socket, name, polling_first(getattr(socket.socket, name)))


def join_by_addresses(kind: Any, join_at: Callable[..., Any]) -> None:
    """Make `Comm.Join` send the addresses of the socket to the parent, which cannot use the socket."""

    @functools.wraps(kind.Join.__func__)
    def Join(cls: Any, fd: int) -> Any:
        try:
            connection = socket.socket(fileno=fd)
        except OSError:
            return join_at(fd, None, None)
        try:
            listens = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            own_address, peer_address = connection.getsockname(), None if listens else connection.getpeername()
        except OSError:
            own_address = peer_address = None
        finally:
            connection.detach()
        return join_at(fd, own_address, peer_address)

    kind.Join = classmethod(Join)
