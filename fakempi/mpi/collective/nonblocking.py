"""Nonblocking collectives: the same plans, carried out by a child task while the rank goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.mpi.collective.plans import CollectivePlans
from fakempi.mpi.operations.op import SUM, Op
from fakempi.mpi.point.request import Request

BufSpec = Any


class NonblockingCollectives(CollectivePlans):
    """Ibarrier, Ibcast and their kin. Communication overlaps with what the rank does meanwhile, as far as ports allow."""

    __slots__ = ()

    def Ibarrier(self) -> Request:
        """Start: wait until all ranks have come."""
        return self._launch(self._plan_barrier())

    def Ibcast(self, buf: BufSpec, root: int = 0) -> Request:
        """Start: leave the root's data in everybody's buffer."""
        return self._launch(self._plan_bcast(buf, root))

    def Igather(self, sendbuf: BufSpec, recvbuf: BufSpec | None, root: int = 0) -> Request:
        """Start: gather equal blocks to the root."""
        return self._launch(self._plan_gather(sendbuf, recvbuf, root))

    def Igatherv(self, sendbuf: BufSpec, recvbuf: BufSpec | None, root: int = 0) -> Request:
        """Start: gather blocks of any sizes to the root."""
        return self._launch(self._plan_gatherv(sendbuf, recvbuf, root))

    def Iscatter(self, sendbuf: BufSpec | None, recvbuf: BufSpec, root: int = 0) -> Request:
        """Start: deal out equal blocks of the root's data."""
        return self._launch(self._plan_scatter(sendbuf, recvbuf, root))

    def Iscatterv(self, sendbuf: BufSpec | None, recvbuf: BufSpec, root: int = 0) -> Request:
        """Start: deal out blocks of any sizes of the root's data."""
        return self._launch(self._plan_scatterv(sendbuf, recvbuf, root))

    def Iallgather(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: gather equal blocks to all ranks."""
        return self._launch(self._plan_allgather(sendbuf, recvbuf))

    def Iallgatherv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: gather blocks of any sizes to all ranks."""
        return self._launch(self._plan_allgatherv(sendbuf, recvbuf))

    def Ialltoall(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: give each rank a block and get one from each, all of one size."""
        return self._launch(self._plan_alltoall(sendbuf, recvbuf))

    def Ialltoallv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: give each rank a block and get one from each, of any sizes."""
        return self._launch(self._plan_alltoallv(sendbuf, recvbuf))

    def Ialltoallw(self, sendbuf: BufSpec, recvbuf: BufSpec) -> Request:
        """Start: give each rank a block and get one from each, of any sizes and datatypes."""
        return self._launch(self._plan_alltoallw(sendbuf, recvbuf))

    def Ireduce(self, sendbuf: BufSpec, recvbuf: BufSpec | None, op: Op = SUM, root: int = 0) -> Request:
        """Start: combine all ranks' data at the root."""
        return self._launch(self._plan_reduce(sendbuf, recvbuf, op, root))

    def Iallreduce(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> Request:
        """Start: combine all ranks' data at all ranks."""
        return self._launch(self._plan_allreduce(sendbuf, recvbuf, op))

    def Ireduce_scatter_block(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> Request:
        """Start: combine all ranks' data, and deal out the result in equal blocks."""
        return self._launch(self._plan_reduce_scatter_block(sendbuf, recvbuf, op))

    def Ireduce_scatter(
        self, sendbuf: BufSpec, recvbuf: BufSpec, recvcounts: Sequence[int] | None = None, op: Op = SUM
    ) -> Request:
        """Start: combine all ranks' data, and deal out the result in blocks of any sizes."""
        return self._launch(self._plan_reduce_scatter(sendbuf, recvbuf, recvcounts, op))
