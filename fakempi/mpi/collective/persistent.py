"""Persistent collectives: a call that is described once and started many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.collective.plans import CollectivePlans
from fakempi.mpi.operations.op import SUM, Op
from fakempi.mpi.point.persistent import Prequest

BufSpec = Any


class PersistentCollectives(CollectivePlans):
    """Barrier_init, Bcast_init and their kin.

    All ranks prepare in the same order, and may start in any. The data are those that are there at each start.
    """

    __slots__ = ()

    def Barrier_init(self, info: Info = INFO_NULL) -> Prequest:
        """Prepare: wait until all ranks have come."""
        return self._prepared(self._plan_barrier())

    def Bcast_init(self, buf: BufSpec, root: int = 0, info: Info = INFO_NULL) -> Prequest:
        """Prepare: leave the root's data in everybody's buffer."""
        return self._prepared(self._plan_bcast(buf, root))

    def Gather_init(self, sendbuf: BufSpec, recvbuf: BufSpec | None, root: int = 0, info: Info = INFO_NULL) -> Prequest:
        """Prepare: gather equal blocks to the root."""
        return self._prepared(self._plan_gather(sendbuf, recvbuf, root))

    def Gatherv_init(
        self, sendbuf: BufSpec, recvbuf: BufSpec | None, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Prepare: gather blocks of any sizes to the root."""
        return self._prepared(self._plan_gatherv(sendbuf, recvbuf, root))

    def Scatter_init(
        self, sendbuf: BufSpec | None, recvbuf: BufSpec, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Prepare: deal out equal blocks of the root's data."""
        return self._prepared(self._plan_scatter(sendbuf, recvbuf, root))

    def Scatterv_init(
        self, sendbuf: BufSpec | None, recvbuf: BufSpec, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Prepare: deal out blocks of any sizes of the root's data."""
        return self._prepared(self._plan_scatterv(sendbuf, recvbuf, root))

    def Allgather_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: gather equal blocks to all ranks."""
        return self._prepared(self._plan_allgather(sendbuf, recvbuf))

    def Allgatherv_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: gather blocks of any sizes to all ranks."""
        return self._prepared(self._plan_allgatherv(sendbuf, recvbuf))

    def Alltoall_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: give each rank a block and get one from each, all of one size."""
        return self._prepared(self._plan_alltoall(sendbuf, recvbuf))

    def Alltoallv_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: give each rank a block and get one from each, of any sizes."""
        return self._prepared(self._plan_alltoallv(sendbuf, recvbuf))

    def Alltoallw_init(self, sendbuf: BufSpec, recvbuf: BufSpec, info: Info = INFO_NULL) -> Prequest:
        """Prepare: give each rank a block and get one from each, of any sizes and datatypes."""
        return self._prepared(self._plan_alltoallw(sendbuf, recvbuf))

    def Reduce_init(
        self, sendbuf: BufSpec, recvbuf: BufSpec | None, op: Op = SUM, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Prepare: combine all ranks' data at the root."""
        return self._prepared(self._plan_reduce(sendbuf, recvbuf, op, root))

    def Allreduce_init(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM, info: Info = INFO_NULL) -> Prequest:
        """Prepare: combine all ranks' data at all ranks."""
        return self._prepared(self._plan_allreduce(sendbuf, recvbuf, op))

    def Reduce_scatter_block_init(
        self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM, info: Info = INFO_NULL
    ) -> Prequest:
        """Prepare: combine all ranks' data, and deal out the result in equal blocks."""
        return self._prepared(self._plan_reduce_scatter_block(sendbuf, recvbuf, op))

    def Reduce_scatter_init(
        self,
        sendbuf: BufSpec,
        recvbuf: BufSpec,
        recvcounts: Sequence[int] | None = None,
        op: Op = SUM,
        info: Info = INFO_NULL,
    ) -> Prequest:
        """Prepare: combine all ranks' data, and deal out the result in blocks of any sizes."""
        return self._prepared(self._plan_reduce_scatter(sendbuf, recvbuf, recvcounts, op))
