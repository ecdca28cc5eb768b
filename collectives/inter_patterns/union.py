"""Two groups as one communicator: ranks of the second group follow those of the first.

Every message uses the local group's communicator or the intercommunicator, depending on its two ends; no communicator is
created and no message is needed for this.
"""

from __future__ import annotations

from typing import Any

from collectives.tools.messages import wait_all
from collectives.tools.protocol import Comm, Intercomm, Request


class Routed:
    """A communicator composed of others: every message uses the one that contains its other end."""

    def _route(self, rank: int) -> tuple[Comm, int]:
        """The communicator that reaches a rank, and the rank's number there."""
        raise NotImplementedError(f"{type(self).__name__} does not define how a rank is reached: override _route()")

    def Send(self, buf: Any, dest: int, tag: int, /) -> object:
        comm, rank = self._route(dest)
        return comm.Send(buf, rank, tag)

    def Recv(self, buf: Any, source: int, tag: int, /) -> object:
        comm, rank = self._route(source)
        return comm.Recv(buf, rank, tag)

    def Ssend(self, buf: Any, dest: int, tag: int, /) -> object:
        comm, rank = self._route(dest)
        return comm.Ssend(buf, rank, tag)

    def Isend(self, buf: Any, dest: int, tag: int, /) -> Request:
        comm, rank = self._route(dest)
        return comm.Isend(buf, rank, tag)

    def Issend(self, buf: Any, dest: int, tag: int, /) -> Request:
        comm, rank = self._route(dest)
        return comm.Issend(buf, rank, tag)

    def Irecv(self, buf: Any, source: int, tag: int, /) -> Request:
        comm, rank = self._route(source)
        return comm.Irecv(buf, rank, tag)

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int, /) -> object:
        wait_all([self.Irecv(recvbuf, source, recvtag), self.Isend(sendbuf, dest, sendtag)])
        return None


class Union(Routed):
    """A communicator of all ranks of both groups; `first` is True in one group and False in the other.

    Two groups of equal size may both pass True: then each group has the ranks 0 .. p-1 in its own numbering and the other
    group p .. 2p-1. The result is correct for an algorithm in which rank r + p does the same as rank r, with all rank
    numbers shifted by p (mod 2p).
    """

    def __init__(self, inter: Intercomm, local: Comm, first: bool) -> None:
        self._inter = inter
        self._local = local
        self._own, self._other = local.Get_size(), inter.Get_remote_size()
        self._first = first

    def Get_rank(self) -> int:
        return self._local.Get_rank() + (0 if self._first else self._other)

    def Get_size(self) -> int:
        return self._own + self._other

    def _route(self, rank: int) -> tuple[Comm, int]:
        own_begins, other_begins = (0, self._own) if self._first else (self._other, 0)
        if own_begins <= rank < own_begins + self._own:
            return self._local, rank - own_begins
        return self._inter, rank - other_begins
