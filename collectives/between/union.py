"""Two groups as one: the ranks of the first keep their numbers, those of the second are shifted by its size.

Every message goes through the local group's communicator or through the one between the groups, whichever joins the
two; nothing is merged and nothing is sent for it.
"""

from __future__ import annotations

from typing import Any

from collectives.tools.messages import wait_all
from collectives.tools.protocol import Comm, Intercomm, Request


class Routed:
    """A communicator made of others: every message goes through the one that leads to its other end."""

    def _way(self, rank: int) -> tuple[Comm, int]:
        """Which communicator leads to a rank, and its number there."""
        raise NotImplementedError

    def Send(self, buf: Any, dest: int, tag: int, /) -> object:
        comm, rank = self._way(dest)
        return comm.Send(buf, rank, tag)

    def Recv(self, buf: Any, source: int, tag: int, /) -> object:
        comm, rank = self._way(source)
        return comm.Recv(buf, rank, tag)

    def Ssend(self, buf: Any, dest: int, tag: int, /) -> object:
        comm, rank = self._way(dest)
        return comm.Ssend(buf, rank, tag)

    def Isend(self, buf: Any, dest: int, tag: int, /) -> Request:
        comm, rank = self._way(dest)
        return comm.Isend(buf, rank, tag)

    def Issend(self, buf: Any, dest: int, tag: int, /) -> Request:
        comm, rank = self._way(dest)
        return comm.Issend(buf, rank, tag)

    def Irecv(self, buf: Any, source: int, tag: int, /) -> Request:
        comm, rank = self._way(source)
        return comm.Irecv(buf, rank, tag)

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int, /) -> object:
        wait_all([self.Irecv(recvbuf, source, recvtag), self.Isend(sendbuf, dest, sendtag)])
        return None


class Union(Routed):
    """A communicator of all ranks of both groups; `first` in one group and not in the other.

    In two groups of one size both may say `first`: then each sees itself as 0 .. p-1 and the others as p .. 2p-1. An
    algorithm that does the same at rank r + p as at r, all numbers shifted by p (mod 2p), does not notice.
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

    def _way(self, rank: int) -> tuple[Comm, int]:
        own_begins, other_begins = (0, self._own) if self._first else (self._other, 0)
        if own_begins <= rank < own_begins + self._own:
            return self._local, rank - own_begins
        return self._inter, rank - other_begins
