"""Sockets of a child: while a rank waits for a socket, other ranks run, as they do in one process. Also `Comm.Join`."""

from __future__ import annotations

import functools
import select
import selectors
import socket
from collections.abc import Callable
from typing import Any

from fakempi.core.import_hooks import ImportHooks
from fakempi.processes.child.ending import RunEnded
from fakempi.processes.child.threads import is_main_thread, main_thread_waits

CONNECTIONS = "multiprocessing.connection"


def let_others_run_first(can_call: Callable[[], bool], let_others_run: Callable[[], bool], imports: ImportHooks) -> None:
    """Replace functions that wait for sockets: they let other ranks run.

    If another thread is in a call, others run anyway, and a process that the rank has forked cannot call. Selectors of other
    threads do so only while the main thread waits for a thread, as with a client whose event loop is in a thread. Otherwise
    they wait as usual, such as those of pools of processes, since the main thread may make the next call at any moment. They
    continue to wait when the run has ended: a pool fails to end if its threads have. The parent interrupts the main thread.
    """
    from fakempi.isolation.sockets import Sockets  # not at the top: `child.process` replaces the package first

    def let_run() -> bool | None:
        return let_others_run() if can_call() else None

    def let_run_where_rank_waits() -> bool | None:
        if is_main_thread():
            return let_run()
        try:
            return let_run() if main_thread_waits() else None
        except RunEnded:
            return False

    Sockets(setattr, let_run).hooks["socket"](socket)
    hooks = Sockets(setattr, let_run_where_rank_waits).hooks
    for module in (select, selectors):
        hooks[module.__name__](module)
    imports.add(CONNECTIONS, hooks[CONNECTIONS])


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
