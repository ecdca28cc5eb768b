"""Neighborhood collectives: exchanges along the edges of a topology, all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_BUFFER
from fakempi.mpi.base.call_matching import TAGS, Traffic
from fakempi.mpi.base.constants import CART, PROC_NULL
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.region import CallRegion, recorded
from fakempi.mpi.base.waiting import wait_all
from fakempi.mpi.buffers.flat import blocks_w
from fakempi.mpi.buffers.payload import payload_of, signature_of
from fakempi.mpi.buffers.span import Payload, span_of
from fakempi.mpi.buffers.specification import is_in_place
from fakempi.mpi.buffers.typing import AnySpec, BufSpec, BufSpecB, BufSpecV, BufSpecW
from fakempi.mpi.buffers.vectors import Blocks, Vector, block, vector
from fakempi.mpi.collective.call_facts import CallFacts
from fakempi.mpi.collective.calls import CollectiveCalls, Plan
from fakempi.mpi.collective.object_arrays import items
from fakempi.mpi.collective.operands import Uses
from fakempi.mpi.collective.synchronizing import barrier_before
from fakempi.mpi.point.arrival import copy_unreceived, truncation_error
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.request import Request

BlocksOf = Callable[..., list[Payload]]
"""Describes a buffer with a block for each of some neighbors: equal blocks, or those of a specification with v or w."""

Edge = tuple[int, int, int]
"""Index of the edge, the rank at its other end, and a label (or the tag made of it)."""


class NeighborCollectives(CollectiveCalls):
    """Neighbor_allgather and its variants. For a neighbor PROC_NULL, beyond the edge of a grid, the block is unchanged."""

    __slots__ = ()

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """Ranks to receive from and ranks to send to, from the topology."""
        raise NotImplementedError

    # -- blocking -------------------------------------------------------------------------------------------------

    def Neighbor_allgather(self, sendbuf: BufSpec, recvbuf: BufSpecB) -> None:
        """Send one block to all neighbors, and receive a block from each."""
        self._plan_neighbor_allgather(sendbuf, recvbuf, _equal_blocks)()

    def Neighbor_allgatherv(self, sendbuf: BufSpec, recvbuf: BufSpecV) -> None:
        """Send one block to all neighbors, and receive blocks of any sizes."""
        self._plan_neighbor_allgather(sendbuf, recvbuf, _blocks_v)()

    def Neighbor_alltoall(self, sendbuf: BufSpecB, recvbuf: BufSpecB) -> None:
        """Send a block to each neighbor and receive one from each, all of one size."""
        self._plan_neighbor_alltoall(sendbuf, recvbuf, _equal_blocks)()

    def Neighbor_alltoallv(self, sendbuf: BufSpecV, recvbuf: BufSpecV) -> None:
        """Send a block to each neighbor and receive one from each, of any sizes."""
        self._plan_neighbor_alltoall(sendbuf, recvbuf, _blocks_v)()

    def Neighbor_alltoallw(self, sendbuf: BufSpecW, recvbuf: BufSpecW) -> None:
        """Send a block to each neighbor and receive one from each, of any sizes and datatypes."""
        self._plan_neighbor_alltoall(sendbuf, recvbuf, blocks_w)()

    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        """Return the objects of all neighbors with an edge to this rank."""
        self._peer_count()
        return self._exchange([sendobj] * len(self.inoutedges[1]))

    def neighbor_alltoall(self, sendobj: list[Any]) -> list[Any]:
        """Send item i to the i-th neighbor; return the items received."""
        self._peer_count()
        return self._exchange(items(sendobj, len(self.inoutedges[1])))

    # -- nonblocking and persistent -------------------------------------------------------------------------------

    def Ineighbor_allgather(self, sendbuf: BufSpec, recvbuf: BufSpecB) -> Request:
        """Start a nonblocking call: send one block to all neighbors, and receive a block from each."""
        return self._launch(self._plan_neighbor_allgather(sendbuf, recvbuf, _equal_blocks))

    def Ineighbor_allgatherv(self, sendbuf: BufSpec, recvbuf: BufSpecV) -> Request:
        """Start a nonblocking call: send one block to all neighbors, and receive blocks of any sizes."""
        return self._launch(self._plan_neighbor_allgather(sendbuf, recvbuf, _blocks_v))

    def Ineighbor_alltoall(self, sendbuf: BufSpecB, recvbuf: BufSpecB) -> Request:
        """Start a nonblocking call: send a block to each neighbor and receive one from each, all of one size."""
        return self._launch(self._plan_neighbor_alltoall(sendbuf, recvbuf, _equal_blocks))

    def Ineighbor_alltoallv(self, sendbuf: BufSpecV, recvbuf: BufSpecV) -> Request:
        """Start a nonblocking call: send a block to each neighbor and receive one from each, of any sizes."""
        return self._launch(self._plan_neighbor_alltoall(sendbuf, recvbuf, _blocks_v))

    def Ineighbor_alltoallw(self, sendbuf: BufSpecW, recvbuf: BufSpecW) -> Request:
        """Start a nonblocking call: send a block to each neighbor and receive one from each, of any sizes and datatypes."""
        return self._launch(self._plan_neighbor_alltoall(sendbuf, recvbuf, blocks_w))

    def Neighbor_allgather_init(self, sendbuf: BufSpec, recvbuf: BufSpecB, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: send one block to all neighbors, and receive a block from each."""
        return self._prepared(self._plan_neighbor_allgather(sendbuf, recvbuf, _equal_blocks))

    def Neighbor_allgatherv_init(self, sendbuf: BufSpec, recvbuf: BufSpecV, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: send one block to all neighbors, and receive blocks of any sizes."""
        return self._prepared(self._plan_neighbor_allgather(sendbuf, recvbuf, _blocks_v))

    def Neighbor_alltoall_init(self, sendbuf: BufSpecB, recvbuf: BufSpecB, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: send a block to each neighbor and receive one from each, all of one size."""
        return self._prepared(self._plan_neighbor_alltoall(sendbuf, recvbuf, _equal_blocks))

    def Neighbor_alltoallv_init(self, sendbuf: BufSpecV, recvbuf: BufSpecV, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: send a block to each neighbor and receive one from each, of any sizes."""
        return self._prepared(self._plan_neighbor_alltoall(sendbuf, recvbuf, _blocks_v))

    def Neighbor_alltoallw_init(self, sendbuf: BufSpecW, recvbuf: BufSpecW, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: exchange blocks with each neighbor, of any sizes and datatypes."""
        return self._prepared(self._plan_neighbor_alltoall(sendbuf, recvbuf, blocks_w))

    # -- plans ----------------------------------------------------------------------------------------------------

    def _plan_neighbor_allgather(self, sendbuf: AnySpec, recvbuf: AnySpec, blocks: BlocksOf) -> Plan:
        sources, dests = edges = self._edges(sendbuf, recvbuf)
        into = blocks(recvbuf, len(sources), writable=True)
        return self._along_edges(edges, _to_all(sendbuf, len(dests)), into)

    def _plan_neighbor_alltoall(self, sendbuf: AnySpec, recvbuf: AnySpec, blocks: BlocksOf) -> Plan:
        sources, dests = edges = self._edges(sendbuf, recvbuf)
        return self._along_edges(edges, blocks(sendbuf, len(dests)), blocks(recvbuf, len(sources), writable=True))

    def _edges(self, *buffers: object) -> tuple[list[int], list[int]]:
        """Return the ranks to receive from and to send to; check the buffers."""
        self._peer_count()
        if any(map(is_in_place, buffers)):
            raise mpi_error(ERR_BUFFER, "both buffers are required; IN_PLACE and None are not allowed.", MPITypeError)
        return self.inoutedges

    def _along_edges(self, edges: tuple[list[int], list[int]], out: Sequence[Payload], into: Sequence[Payload]) -> Plan:
        """Receive from all sources and send to all destinations at once."""
        send_sizes, receive_sizes = [block.nbytes for block in out], [block.nbytes for block in into]
        types = [[signature_of(block) if block.nbytes else None for block in blocks] for blocks in (out, into)]
        comm, receive, send, barrier = self._enter_edges(edges, send_sizes, receive_sizes, types)
        call = NeighborCall(comm, barrier, receive, send).on(out, into)
        if self._process.universe.recorder is not None:
            call.region = CallRegion(self, "neighbors", nbytes=sum(send_sizes))
        return call

    def _exchange(self, out: list[Any]) -> list[Any]:
        sources, dests = edges = self.inoutedges
        comm, receive, send, barrier = self._enter_edges(edges, ["an object"] * len(dests), ["an object"] * len(sources))

        def work() -> list[object]:
            if barrier is not None:
                barrier()
            requests = [comm.irecv(source=source, tag=label) for _, source, label in receive]
            sent = [comm.isend(out[i], dest, label) for i, dest, label in send]
            received: list[object] = [None] * len(sources)
            for (i, _, _), obj in zip(receive, Request.waitall(requests), strict=True):
                received[i] = obj
            Request.waitall(sent)
            return received

        return recorded(self, work, "neighbors")()

    def _enter_edges(
        self, edges: tuple[list[int], list[int]], send_sizes: Sequence[object], receive_sizes: Sequence[object],
        types: Any = None,
    ) -> tuple[Any, list[Edge], list[Edge], Callable[[], object] | None]:
        """Register a call; return the collective context, incoming and outgoing edges with tags, and a barrier or None.

        In a grid the block for the neighbor on one side arrives there as the block from the other side. If both are the same
        rank, tags distinguish the two; in a graph parallel edges match in order.
        """
        sources, dests = edges
        across = 1 if self.Get_topology() == CART else 0  # type: ignore[attr-defined]  # a method of Comm, which is in a higher package
        incoming = [(i, source, i * across) for i, source in enumerate(sources) if source != PROC_NULL]
        outgoing = [(i, dest, (i ^ across) * across) for i, dest in enumerate(dests) if dest != PROC_NULL]
        traffic = Traffic(_by_rank(outgoing, send_sizes), _by_rank(incoming, receive_sizes))
        if types is not None:
            traffic = traffic._replace(send_types=_by_rank(outgoing, types[0]), receive_types=_by_rank(incoming, types[1]))
        (comm,), tag, call, entry = self._enter_call({}, traffic)
        if self._process.universe.fused is not None:
            self._process.universe.fused.count_emulated(entry, "neighborhood collectives have no schedule")
        receive, send = (
            [(i, rank, tag + TAGS * label) for i, rank, label in direction] for direction in (incoming, outgoing)
        )
        return comm, receive, send, barrier_before(self, tag, entry, call, CallFacts("neighbors"), 0, None)


class NeighborCall:
    """A neighborhood collective that is ready to run: the blocks to receive and to send, and their edges."""

    __slots__ = ("_barrier", "_comm", "_reads", "_receive", "_send", "_writes", "region")

    def __init__(self, comm: Any, barrier: Callable[[], object] | None, receive: list[Edge], send: list[Edge]) -> None:
        self._comm, self._barrier, self._receive, self._send = comm, barrier, receive, send
        self.region: CallRegion | None = None

    def on(self, out: Sequence[Payload], into: Sequence[Payload]) -> NeighborCall:
        """Set the buffers, with a block for each neighbor."""
        self._reads, self._writes = [out[i] for i, _, _ in self._send], [into[i] for i, _, _ in self._receive]
        return self

    @property
    def uses(self) -> Uses:
        """The blocks that the call reads, and those that it writes; a check of buffers may replace them."""
        return self._reads, self._writes

    def __call__(self) -> None:
        """Run the call."""
        if self.region is None:
            self._run()
        else:
            self.region.run(self._run)

    def _run(self) -> None:
        """Like Irecv, Isend and Waitall, but call matching has already compared the sizes."""
        comm = self._comm
        if self._barrier is not None:
            self._barrier()
        receives, sends = zip(self._writes, self._receive, strict=True), zip(self._reads, self._send, strict=True)
        awaited = [comm._post_receive(block, block.nbytes, source, tag) for block, (_, source, tag) in receives]
        sent = [comm._post_send(block, block.nbytes, dest, tag) for block, (_, dest, tag) in sends]
        wait_all(comm._loop, [*awaited, *sent])
        for receive in awaited:
            if receive.envelope.nbytes > receive.capacity:  # the sender has died
                raise truncation_error(receive)
        for envelope in sent:
            copy_unreceived(envelope)


def _to_all(sendbuf: AnySpec, size: int) -> list[Payload]:
    """The same block for each of `size` neighbors; a rank without neighbors may pass an empty buffer."""
    return [payload_of(span_of(sendbuf, blocks=min(size, 1)))] * size


def _equal_blocks(spec: AnySpec, size: int, *, writable: bool = False) -> list[Payload]:
    return _each_block(block(spec, size, writable=writable))


def _blocks_v(spec: AnySpec, size: int, *, writable: bool = False) -> list[Payload]:
    return _each_block(vector(spec, size, writable=writable))


def _each_block(blocks: Blocks | Vector) -> list[Payload]:
    return [blocks.at(i) for i in range(blocks.size)]


def _by_rank(edges: list[Edge], amounts: Sequence[object]) -> dict[int, tuple[object, ...]]:
    """Return the amounts on the edges between this rank and each other rank, in matching order."""
    by_rank: dict[int, tuple[object, ...]] = {}
    for i, rank, _ in sorted(edges, key=itemgetter(2)):
        by_rank[rank] = (*by_rank.get(rank, ()), amounts[i])
    return by_rank
