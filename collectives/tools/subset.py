"""A subset of ranks with the methods of a communicator, to run an algorithm on one node or on one rank of each node.

No communicator is created and no message is needed: every message uses the communicator of all ranks. Algorithms on disjoint
subsets may run at the same time. Algorithms on subsets that share two or more ranks must run one after the other, so that
messages with the same tag match in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.tools.nodes import Nodes, Placement, placement_of
from collectives.tools.protocol import Comm, Request


class Subset:
    """The given ranks of a communicator, numbered in the given order; `rank` is the number of the calling process."""

    def __init__(self, comm: Comm, ranks: Sequence[int], rank: int) -> None:
        self._comm, self._ranks, self._rank = comm, ranks, rank

    def Get_rank(self) -> int:
        return self._rank

    def Get_size(self) -> int:
        return len(self._ranks)

    def Send(self, buf: Any, dest: int, tag: int, /) -> object:
        return self._comm.Send(buf, self._ranks[dest], tag)

    def Recv(self, buf: Any, source: int, tag: int, /) -> object:
        return self._comm.Recv(buf, self._ranks[source], tag)

    def Ssend(self, buf: Any, dest: int, tag: int, /) -> object:
        return self._comm.Ssend(buf, self._ranks[dest], tag)

    def Isend(self, buf: Any, dest: int, tag: int, /) -> Request:
        return self._comm.Isend(buf, self._ranks[dest], tag)

    def Issend(self, buf: Any, dest: int, tag: int, /) -> Request:
        return self._comm.Issend(buf, self._ranks[dest], tag)

    def Irecv(self, buf: Any, source: int, tag: int, /) -> Request:
        return self._comm.Irecv(buf, self._ranks[source], tag)

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int, /) -> object:
        to, origin = self._ranks[dest], self._ranks[source]
        return self._comm.Sendrecv(sendbuf, to, sendtag, recvbuf, origin, recvtag)


def on_node(comm: Comm, nodes: Nodes) -> tuple[Placement, int, int, Subset]:
    """Return the placement of the ranks, this rank's node and its index there, and the ranks of the node."""
    rank = comm.Get_rank()
    placement = placement_of(nodes, comm.Get_size())
    node, index = placement.node[rank], placement.index[rank]
    return placement, node, index, Subset(comm, placement.nodes[node], index)
