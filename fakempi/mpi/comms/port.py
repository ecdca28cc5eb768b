"""Ports, at which two groups wait for each other, and sockets, at which two processes wait for each other (Join)."""

from __future__ import annotations

import os
from collections import deque
from typing import Any

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_ARG, ERR_PORT
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.process import Process, RunState, Universe
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.waiting import Completion, wait_one


class PortWait:
    """The wait of a group's root at a port, as deadlock reports describe it."""

    __slots__ = ("accepts", "completion", "members", "port")

    def __init__(self, port: NamedPort, accepts: bool, members: Members) -> None:
        self.port, self.accepts, self.members = port, accepts, members
        self.completion = Completion(self)

    def describe(self) -> str:
        """Return a description of the awaited event."""
        return f"waits for {'a Connect to' if self.accepts else 'an Accept on'} port {self.port.name!r}"


class OpenPorts(RunState):
    """The ports of a run."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.open: dict[str, NamedPort] = {}  # by name
        self.opened = 0  # number of ports opened so far
        self.services: dict[str, str] = {}  # service name -> port name


class NamedPort:
    """A port. The groups that wait at it all accept or all connect, because two groups with different calls are joined."""

    __slots__ = ("name", "owner", "waiting")

    def __init__(self, name: str, owner: Process) -> None:
        self.name, self.owner = name, owner
        self.waiting: deque[PortWait] = deque()

    def wait_for_peer(self, accepts: bool, members: Members) -> Completion:
        """Join a group with the first waiting group, or let it wait; the accepting group is the first in the new context."""
        arriving = PortWait(self, accepts, members)
        if not self.waiting or self.waiting[0].accepts == accepts:
            self.waiting.append(arriving)
            return arriving.completion
        other = self.waiting.popleft()
        first, second = (arriving, other) if accepts else (other, arriving)
        context = Context(self.owner.universe, first.members, second.members)
        for waiting in (other, arriving):
            waiting.completion.result = context
            waiting.completion.complete(self.owner.loop.now)
        return arriving.completion

    def rendezvous(self, accepts: bool, members: Members) -> Context:
        """Wait for a group that makes the other call, and return the context of both groups."""
        arrival = self.wait_for_peer(accepts, members)
        with wait_region(running_process(), "accept" if accepts else "connect"):
            wait_one(self.owner.loop, arrival)
        if arrival.error is not None:
            raise mpi_error(arrival.error.ierr, str(arrival.error.message))
        return arrival.result  # type: ignore[no-any-return]  # results of a rendezvous are Any

    def close(self) -> None:
        """Close the port: waiting groups get an error."""
        for waiter in self.waiting:
            waiter.completion.error = MPIError(ERR_PORT, f"port {self.name!r} was closed.")
            waiter.completion.complete(self.owner.loop.now)
        self.waiting.clear()


def rendezvous_at_socket(process: Process, fd: int) -> tuple[Context, int]:
    """Wait for the process at the other end of a socket to call Join; return their context and this process's side.

    The addresses of the socket, which both processes see, identify the pair. Nothing is sent through the socket.
    """
    number = integer("fd", fd)
    try:
        here, there = socket_ends(number)
    except OSError as error:
        raise mpi_error(ERR_ARG, f"file descriptor {number} is not a connected socket: {error}.") from None
    if there is None:
        raise mpi_error(ERR_ARG, f"file descriptor {number} is not a connected socket: it is listening.")
    ends = {here, there}
    if len(ends) < 2:
        raise mpi_error(ERR_ARG, f"the two ends of socket {number} have no addresses that distinguish them.")
    if not _is_ours(here, there):
        sentence = (
            f"the other end of socket {number}, {there}, is not a rank of this run; Join connects ranks of one run only."
        )
        raise mpi_error(ERR_ARG, sentence)
    return rendezvous_at_addresses(process, here, there)


def rendezvous_at_addresses(process: Process, here: Any, there: Any) -> tuple[Context, int]:
    """Wait for the process that passes the same two addresses in reverse; return their context and this process's side."""
    name, ports = f"socket {sorted({here, there})}", process.universe.state(OpenPorts).open
    port = ports.pop(name, None)
    own_side = 0 if port is None else 1
    if port is None:
        port = ports[name] = NamedPort(name, process)
    return port.rendezvous(not own_side, Members.of([process.number])), own_side


def _is_ours(here: Any, there: Any) -> bool:
    """Return whether the other end of a socket is in this OS process, as all ranks are, or may be in it after an accept."""
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return True  # unknown
    for number in numbers:
        try:
            name, other = socket_ends(number)
        except OSError:
            continue  # not a socket, or not connected
        if (name, other) == (there, here) or (other is None and name[1:2] == there[1:2]):  # the port number
            return True
    return False


def socket_ends(number: int) -> tuple[Any, Any]:
    """Return the local and the remote address of a socket; the remote address of a listening socket is None."""
    import socket  # imported here: it takes 5 ms, and few programs call Join

    view = socket.socket(fileno=number)
    try:
        listens = view.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        return view.getsockname(), None if listens else view.getpeername()
    finally:
        view.detach()
