"""A port: where two groups wait for each other. So is a socket, whose two ends a process each has."""

from __future__ import annotations

import os
from collections import deque
from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_PORT
from fakempi.errors import MPIError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.waiting import Completion, wait_one


class Visit:
    """A group's root at a port: what the others of the group wait for, and what a report says of it."""

    __slots__ = ("accepts", "completion", "members", "port")

    def __init__(self, port: Port, accepts: bool, members: Members) -> None:
        self.port, self.accepts, self.members = port, accepts, members
        self.completion = Completion(self)

    def in_words(self) -> str:
        """What it waits for."""
        return f"waits for {'a Connect to' if self.accepts else 'an Accept on'} port {self.port.name!r}"


class Port:
    """Where groups wait for each other. Those who wait are all of one kind: they accept, or they connect."""

    __slots__ = ("name", "owner", "waiting")

    def __init__(self, name: str, owner: Any) -> None:
        self.name, self.owner = name, owner
        self.waiting: deque[Visit] = deque()

    def visit(self, accepts: bool, members: Members) -> Completion:
        """A group comes; its result is a context whose first side are those who accept."""
        mine = Visit(self, accepts, members)
        if not self.waiting or self.waiting[0].accepts == accepts:
            self.waiting.append(mine)
            return mine.completion
        other = self.waiting.popleft()
        first, second = (mine, other) if accepts else (other, mine)
        context = Context(self.owner.universe, first.members, second.members)
        for one in (other, mine):
            one.completion.result = context
            one.completion.complete(self.owner.loop.now)
        return mine.completion

    def meet(self, accepts: bool, members: Members) -> Context:
        """The same, for whoever waits for it now."""
        arrival = self.visit(accepts, members)
        wait_one(self.owner.loop, arrival)
        if arrival.error is not None:
            raise complaint(arrival.error.ierr, arrival.error.message)
        return arrival.result  # type: ignore[no-any-return]

    def close(self) -> None:
        """Nobody will come any more: tell those who wait."""
        for one in self.waiting:
            one.completion.error = MPIError(ERR_PORT, f"port {self.name!r} was closed.")
            one.completion.complete(self.owner.loop.now)
        self.waiting.clear()


def meet_at_socket(process: Any, fd: int) -> tuple[Context, int]:
    """The process at the other end of a socket, which makes the same call: their context, and which side is this one's.

    The two are known by the addresses of the socket, which both see; nothing is sent through it.
    """
    number = integer("fd", fd)
    try:
        here, there = _ends(number)
    except OSError as error:
        raise complaint(ERR_ARG, f"file descriptor {number} is no connected socket: {error}.") from None
    if there is None:
        raise complaint(ERR_ARG, f"file descriptor {number} is no connected socket: it waits for somebody to connect.")
    ends = {here, there}
    if len(ends) < 2:
        raise complaint(ERR_ARG, f"the two ends of socket {number} have no addresses by which they could be told apart.")
    if not _is_ours(here, there):
        words = f"the other end of socket {number}, {there}, is no rank of this run: only these can be joined."
        raise complaint(ERR_ARG, words)
    name, ports = f"socket {sorted(ends)}", process.universe.ports
    port: Port | None = ports.pop(name, None)
    mine = 0 if port is None else 1
    if port is None:
        port = ports[name] = Port(name, process)
    return port.meet(not mine, Members.of([process.number])), mine


def _is_ours(here: Any, there: Any) -> bool:
    """Whether the other end of a socket is in this process, as all ranks are; or will be, once somebody accepts it."""
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return True  # nobody knows
    for number in numbers:
        try:
            name, other = _ends(number)
        except OSError:
            continue  # no socket, or one that does nothing
        if (name, other) == (there, here) or (other is None and name[1:2] == there[1:2]):  # the number of the port
            return True
    return False


def _ends(number: int) -> tuple[Any, Any]:
    """The addresses of a socket's two ends, the own one first; None for the other one if it waits for one to connect."""
    import socket  # here, since it takes 5 ms and few programs join

    line = socket.socket(fileno=number)
    try:
        listens = line.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        return line.getsockname(), None if listens else line.getpeername()
    finally:
        line.detach()
