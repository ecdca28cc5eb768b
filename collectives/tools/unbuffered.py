"""A communicator on which nothing is buffered: every send waits for its receive, as in the model of `collectives.__doc__`.

A short message that a library buffers travels at once and takes the receiver's port, whomever the receiver wanted to hear
first. Where an algorithm's time hangs on the order in which ranks receive, it runs on one of these, so that its claims hold
whatever is buffered. The price on a real machine is a handshake a message.
"""

from __future__ import annotations

from typing import Any

from collectives.tools.protocol import Comm, Intercomm, Request


class Unbuffered:
    """The same communicator, with synchronous sends in place of all others."""

    def __init__(self, comm: Comm) -> None:
        self._comm = comm
        self.Get_rank, self.Get_size = comm.Get_rank, comm.Get_size
        self.Recv, self.Irecv = comm.Recv, comm.Irecv
        self.Send = self.Ssend = comm.Ssend
        self.Isend = self.Issend = comm.Issend

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int, /) -> object:
        both: list[Request] = [self._comm.Irecv(recvbuf, source, recvtag), self._comm.Issend(sendbuf, dest, sendtag)]
        return type(both[0]).Waitall(both)


class UnbufferedBetween(Unbuffered):
    """The same between two groups."""

    def __init__(self, inter: Intercomm) -> None:
        super().__init__(inter)
        self.Get_remote_size = inter.Get_remote_size
