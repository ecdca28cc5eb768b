"""Nonblocking collective calls: a child task runs the plan while the rank continues."""

from __future__ import annotations

from collections.abc import Sequence

from fakempi.mpi.buffers.typing import BufSpec, BufSpecB, BufSpecV, BufSpecW, InPlace
from fakempi.mpi.collective.plans import CollectivePlans
from fakempi.mpi.operations.op import SUM, Op
from fakempi.mpi.point.request import Request


class NonblockingCollectives(CollectivePlans):
    """Ibarrier, Ibcast and the other nonblocking calls. They overlap with the rank's other work as far as ports allow."""

    __slots__ = ()

    def Ibarrier(self) -> Request:
        """Start a barrier: the request completes when all ranks have called."""
        return self._launch(self._plan_barrier())

    def Ibcast(self, buf: BufSpec, root: int = 0) -> Request:
        """Start a nonblocking call: copy the root's data to the buffers of all ranks."""
        return self._launch(self._plan_bcast(buf, root))

    def Igather(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecB | None, root: int = 0) -> Request:
        """Start a nonblocking call: gather equal blocks to the root."""
        return self._launch(self._plan_rooted("Gather", sendbuf, recvbuf, root))

    def Igatherv(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecV | None, root: int = 0) -> Request:
        """Start a nonblocking call: gather blocks of any sizes to the root."""
        return self._launch(self._plan_rooted("Gatherv", sendbuf, recvbuf, root))

    def Iscatter(self, sendbuf: BufSpecB | None, recvbuf: BufSpec | InPlace, root: int = 0) -> Request:
        """Start a nonblocking call: distribute equal blocks of the root's data."""
        return self._launch(self._plan_rooted("Scatter", recvbuf, sendbuf, root))

    def Iscatterv(self, sendbuf: BufSpecV | None, recvbuf: BufSpec | InPlace, root: int = 0) -> Request:
        """Start a nonblocking call: distribute blocks of any sizes of the root's data."""
        return self._launch(self._plan_rooted("Scatterv", recvbuf, sendbuf, root))

    def Iallgather(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecB) -> Request:
        """Start a nonblocking call: gather equal blocks to all ranks."""
        return self._launch(self._plan_allgather(sendbuf, recvbuf))

    def Iallgatherv(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecV) -> Request:
        """Start a nonblocking call: gather blocks of any sizes to all ranks."""
        return self._launch(self._plan_allgatherv(sendbuf, recvbuf))

    def Ialltoall(self, sendbuf: BufSpecB | InPlace, recvbuf: BufSpecB) -> Request:
        """Start a nonblocking call: send a block to each rank and receive one from each, all of one size."""
        return self._launch(self._plan_alltoall(sendbuf, recvbuf))

    def Ialltoallv(self, sendbuf: BufSpecV | InPlace, recvbuf: BufSpecV) -> Request:
        """Start a nonblocking call: send a block to each rank and receive one from each, of any sizes."""
        return self._launch(self._plan_alltoallv(sendbuf, recvbuf))

    def Ialltoallw(self, sendbuf: BufSpecW | InPlace, recvbuf: BufSpecW) -> Request:
        """Start a nonblocking call: send a block to each rank and receive one from each, of any sizes and datatypes."""
        return self._launch(self._plan_alltoallw(sendbuf, recvbuf))

    def Ireduce(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec | None, op: Op = SUM, root: int = 0) -> Request:
        """Start a nonblocking call: combine all ranks' data at the root."""
        return self._launch(self._plan_reduce(sendbuf, recvbuf, op, root))

    def Iallreduce(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM) -> Request:
        """Start a nonblocking call: combine all ranks' data at all ranks."""
        return self._launch(self._plan_full_reduction("allreduce", sendbuf, recvbuf, op))

    def Ireduce_scatter_block(self, sendbuf: BufSpecB | InPlace, recvbuf: BufSpec | BufSpecB, op: Op = SUM) -> Request:
        """Start a nonblocking call: combine all ranks' data, and distribute the result in equal blocks."""
        return self._launch(self._plan_reduce_scatter_block(sendbuf, recvbuf, op))

    def Ireduce_scatter(
        self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, recvcounts: Sequence[int] | None = None, op: Op = SUM
    ) -> Request:
        """Start a nonblocking call: combine all ranks' data, and distribute the result in blocks of any sizes."""
        return self._launch(self._plan_reduce_scatter(sendbuf, recvbuf, recvcounts, op))
