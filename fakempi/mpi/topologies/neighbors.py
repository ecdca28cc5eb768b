"""Neighbourhood collectives: exchanges along the edges of a topology, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from fakempi.error_classes import ERR_BUFFER
from fakempi.errors import MPITypeError
from fakempi.mpi.base.agreement import TAGS, Traffic
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import CART, PROC_NULL
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.region import recorded
from fakempi.mpi.base.waiting import wait_all
from fakempi.mpi.buffers.flat import blocks_w
from fakempi.mpi.buffers.payload import payload_of, signature_of
from fakempi.mpi.buffers.span import parse
from fakempi.mpi.buffers.specification import is_in_place
from fakempi.mpi.buffers.vectors import Blocks, Vector, block, vector
from fakempi.mpi.collective.calls import CollectiveCalls, Plan, items, using
from fakempi.mpi.point.arrival import secure, truncation
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.request import Request

BufSpec = Any
Edge = tuple[int, int, int]
"""Which one it is, the rank at its other end, and a label (or the tag made of it)."""


class NeighborCollectives(CollectiveCalls):
    """Neighbor_allgather and its kin. On the edge of a grid there is nobody, and the block stays as it is."""

    __slots__ = ()

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """Whom to receive from and whom to send to: the topology says."""
        raise NotImplementedError

    # -- blocking -------------------------------------------------------------------------------------------------

    def Neighbor_allgather(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Send one block to all neighbours, and get a block from each."""
        self._plan_neighbor_allgather(sendbuf, recvbuf)()

    def Neighbor_allgatherv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Send one block to all neighbours, and get blocks of any sizes."""
        self._plan_neighbor_allgatherv(sendbuf, recvbuf)()

    def Neighbor_alltoall(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each neighbour a block and get one from each, all of one size."""
        self._plan_neighbor_alltoall(sendbuf, recvbuf)()

    def Neighbor_alltoallv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each neighbour a block and get one from each, of any sizes."""
        self._plan_neighbor_alltoallv(sendbuf, recvbuf)()

    def Neighbor_alltoallw(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each neighbour a block and get one from each, of any sizes and datatypes."""
        self._plan_neighbor_alltoallw(sendbuf, recvbuf)()

    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        """The objects of all neighbours with an edge to this rank."""
        self._everybody()
        return self._exchange([sendobj] * len(self.inoutedges[1]))

    def neighbor_alltoall(self, sendobj: list[Any]) -> list[Any]:
        """Item i goes to the i-th neighbour; returns what came from each."""
        self._everybody()
        return self._exchange(items(sendobj, len(self.inoutedges[1])))

    # -- nonblocking and persistent -------------------------------------------------------------------------------

    def Ineighbor_allgather(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: send one block to all neighbours, and get a block from each."""
        return self._launch(self._plan_neighbor_allgather(sendbuf, recvbuf))

    def Ineighbor_allgatherv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: send one block to all neighbours, and get blocks of any sizes."""
        return self._launch(self._plan_neighbor_allgatherv(sendbuf, recvbuf))

    def Ineighbor_alltoall(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: give each neighbour a block and get one from each, all of one size."""
        return self._launch(self._plan_neighbor_alltoall(sendbuf, recvbuf))

    def Ineighbor_alltoallv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: give each neighbour a block and get one from each, of any sizes."""
        return self._launch(self._plan_neighbor_alltoallv(sendbuf, recvbuf))

    def Ineighbor_alltoallw(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: give each neighbour a block and get one from each, of any sizes and datatypes."""
        return self._launch(self._plan_neighbor_alltoallw(sendbuf, recvbuf))

    def Neighbor_allgather_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: send one block to all neighbours, and get a block from each."""
        return self._prepared(self._plan_neighbor_allgather(sendbuf, recvbuf))

    def Neighbor_allgatherv_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: send one block to all neighbours, and get blocks of any sizes."""
        return self._prepared(self._plan_neighbor_allgatherv(sendbuf, recvbuf))

    def Neighbor_alltoall_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: give each neighbour a block and get one from each, all of one size."""
        return self._prepared(self._plan_neighbor_alltoall(sendbuf, recvbuf))

    def Neighbor_alltoallv_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: give each neighbour a block and get one from each, of any sizes."""
        return self._prepared(self._plan_neighbor_alltoallv(sendbuf, recvbuf))

    def Neighbor_alltoallw_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: give each neighbour a block and get one from each, of any sizes and datatypes."""
        return self._prepared(self._plan_neighbor_alltoallw(sendbuf, recvbuf))

    # -- plans ----------------------------------------------------------------------------------------------------

    def _plan_neighbor_allgather(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Plan:
        sources, dests = edges = self._edges(sendbuf, recvbuf)
        into = block(recvbuf, len(sources), writable=True)
        return self._along_edges(edges, [payload_of(parse(sendbuf))] * len(dests), _each(into))

    def _plan_neighbor_allgatherv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Plan:
        sources, dests = edges = self._edges(sendbuf, recvbuf)
        into = vector(recvbuf, len(sources), writable=True)
        return self._along_edges(edges, [payload_of(parse(sendbuf))] * len(dests), _each(into))

    def _plan_neighbor_alltoall(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Plan:
        sources, dests = edges = self._edges(sendbuf, recvbuf)
        out, into = block(sendbuf, len(dests)), block(recvbuf, len(sources), writable=True)
        return self._along_edges(edges, _each(out), _each(into))

    def _plan_neighbor_alltoallv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Plan:
        sources, dests = edges = self._edges(sendbuf, recvbuf)
        out, into = vector(sendbuf, len(dests)), vector(recvbuf, len(sources), writable=True)
        return self._along_edges(edges, _each(out), _each(into))

    def _plan_neighbor_alltoallw(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Plan:
        sources, dests = edges = self._edges(sendbuf, recvbuf)
        return self._along_edges(edges, blocks_w(sendbuf, len(dests)), blocks_w(recvbuf, len(sources), writable=True))

    def _edges(self, *buffers: Any) -> tuple[list[int], list[int]]:
        """Whom to receive from and whom to send to."""
        self._everybody()
        if any(map(is_in_place, buffers)):
            raise complaint(ERR_BUFFER, "two buffers are needed, neither of them IN_PLACE or None.", MPITypeError)
        return self.inoutedges

    def _along_edges(self, edges: tuple[list[int], list[int]], out: Sequence[Any], into: Sequence[Any]) -> Plan:
        """Receive from all sources and send to all destinations at once."""
        gives, takes = [block.nbytes for block in out], [block.nbytes for block in into]
        kinds = [[signature_of(block) if block.nbytes else None for block in blocks] for blocks in (out, into)]
        twin, receive, send = self._enter_edges(edges, gives, takes, kinds)

        def work() -> None:
            # As by Irecv, Isend and Waitall, but the roll has seen to it that all sizes fit.
            awaited = [twin._await(into[i], takes[i], source, label) for i, source, label in receive]
            sent = [twin._post(out[i], gives[i], dest, label) for i, dest, label in send]
            wait_all(twin._loop, [*awaited, *sent])
            for pattern in awaited:
                if pattern.envelope.nbytes > pattern.capacity:  # who should have sent it has died
                    raise truncation(pattern)
            for envelope in sent:
                secure(envelope)

        plan = recorded(self, work, "neighbors", nbytes=sum(gives))
        return using(plan, [out[i] for i, _, _ in send], [into[i] for i, _, _ in receive])

    def _exchange(self, out: list[Any]) -> list[Any]:
        sources, dests = edges = self.inoutedges
        twin, receive, send = self._enter_edges(edges, ["an object"] * len(dests), ["an object"] * len(sources))

        def work() -> list[Any]:
            requests = [twin.irecv(source=source, tag=label) for _, source, label in receive]
            sent = [twin.isend(out[i], dest, label) for i, dest, label in send]
            found: list[Any] = [None] * len(sources)
            for (i, _, _), thing in zip(receive, Request.waitall(requests), strict=True):
                found[i] = thing
            Request.waitall(sent)
            return found

        found: list[Any] = recorded(self, work, "neighbors")()
        return found

    def _enter_edges(
        self, edges: tuple[list[int], list[int]], gives: Sequence[Any], takes: Sequence[Any], kinds: Any = None
    ) -> tuple[Any, list[Edge], list[Edge]]:
        """Enter a call in the roll; returns the twin, and the edges that come in and that go out, with their tags.

        In a grid the block for the neighbour on one side arrives there as the block from the other side. Where both are
        the same rank, tags tell them apart; in a graph parallel edges match in order.
        """
        sources, dests = edges
        across = 1 if self.Get_topology() == CART else 0  # type: ignore[attr-defined]
        incoming = [(i, source, i * across) for i, source in enumerate(sources) if source != PROC_NULL]
        outgoing = [(i, dest, (i ^ across) * across) for i, dest in enumerate(dests) if dest != PROC_NULL]
        traffic = Traffic(_by_rank(outgoing, gives), _by_rank(incoming, takes))
        if kinds is not None:
            traffic = traffic._replace(given=_by_rank(outgoing, kinds[0]), taken=_by_rank(incoming, kinds[1]))
        (twin,), tag, *_ = self._enter_call({}, traffic)
        if self._process.universe.paper is not None:
            self._process.universe.paper.refuse("neighbours exchange what they have at their own times")
        receive, send = ([(i, rank, tag + TAGS * label) for i, rank, label in each] for each in (incoming, outgoing))
        return twin, receive, send


def _each(blocks: Blocks | Vector) -> list[Any]:
    return [blocks.at(i) for i in range(blocks.size)]


def _by_rank(edges: list[Edge], amounts: Sequence[Any]) -> dict[int, tuple[Any, ...]]:
    """What goes along the edges between this rank and each other, in the order in which they match."""
    found: dict[int, tuple[Any, ...]] = {}
    for i, rank, _ in sorted(edges, key=itemgetter(2)):
        found[rank] = (*found.get(rank, ()), amounts[i])
    return found
