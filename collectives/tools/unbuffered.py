"""A communicator whose sends are all synchronous, as in the model of `collectives.__doc__`.

A short message that a library buffers is transferred immediately and occupies the receiver's port, regardless of the
order in which the receiver posts its receives. Algorithms whose time depends on that order run on one of these
communicators, so that their claims hold with any buffering. The cost on a real machine is one handshake per message.
"""

from __future__ import annotations

from typing import Any

from collectives.tools.protocol import Comm, Intercomm, Request


class SynchronousComm:
    """A communicator whose `Send` and `Isend` are synchronous."""

    def __init__(self, comm: Comm) -> None:
        self._comm = comm
        self.Get_rank, self.Get_size = comm.Get_rank, comm.Get_size
        self.Recv, self.Irecv = comm.Recv, comm.Irecv
        self.Send = self.Ssend = comm.Ssend
        self.Isend = self.Issend = comm.Issend

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int, /) -> object:
        both: list[Request] = [self._comm.Irecv(recvbuf, source, recvtag), self._comm.Issend(sendbuf, dest, sendtag)]
        return type(both[0]).Waitall(both)


class UnbufferedBetween(SynchronousComm):
    """An intercommunicator whose sends are all synchronous."""

    def __init__(self, inter: Intercomm) -> None:
        super().__init__(inter)
        self.Get_remote_size = inter.Get_remote_size
