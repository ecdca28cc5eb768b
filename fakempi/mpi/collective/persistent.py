"""Persistent collective calls: described once and started many times."""

from __future__ import annotations

from collections.abc import Sequence

from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.buffers.typing import BufSpec, BufSpecB, BufSpecV, BufSpecW, InPlace
from fakempi.mpi.collective.plans import CollectivePlans
from fakempi.mpi.operations.op import SUM, Op
from fakempi.mpi.point.persistent import Prequest


class PersistentCollectives(CollectivePlans):
    """Barrier_init, Bcast_init and the other persistent calls.

    All ranks must create their requests in the same order, and may start them in any order. Each start reads the buffers.
    """

    __slots__ = ()

    def Barrier_init(self, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: wait until all ranks have started it."""
        return self._prepared(self._plan_barrier())

    def Bcast_init(self, buf: BufSpec, root: int = 0, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: copy the root's data to the buffers of all ranks."""
        return self._prepared(self._plan_bcast(buf, root))

    def Gather_init(
        self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecB | None, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Create a persistent request: gather equal blocks to the root."""
        return self._prepared(self._plan_rooted("Gather", sendbuf, recvbuf, root))

    def Gatherv_init(
        self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecV | None, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Create a persistent request: gather blocks of any sizes to the root."""
        return self._prepared(self._plan_rooted("Gatherv", sendbuf, recvbuf, root))

    def Scatter_init(
        self, sendbuf: BufSpecB | None, recvbuf: BufSpec | InPlace, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Create a persistent request: distribute equal blocks of the root's data."""
        return self._prepared(self._plan_rooted("Scatter", recvbuf, sendbuf, root))

    def Scatterv_init(
        self, sendbuf: BufSpecV | None, recvbuf: BufSpec | InPlace, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Create a persistent request: distribute blocks of any sizes of the root's data."""
        return self._prepared(self._plan_rooted("Scatterv", recvbuf, sendbuf, root))

    def Allgather_init(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecB, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: gather equal blocks to all ranks."""
        return self._prepared(self._plan_allgather(sendbuf, recvbuf))

    def Allgatherv_init(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecV, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: gather blocks of any sizes to all ranks."""
        return self._prepared(self._plan_allgatherv(sendbuf, recvbuf))

    def Alltoall_init(self, sendbuf: BufSpecB | InPlace, recvbuf: BufSpecB, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: send a block to each rank and receive one from each, all of one size."""
        return self._prepared(self._plan_alltoall(sendbuf, recvbuf))

    def Alltoallv_init(self, sendbuf: BufSpecV | InPlace, recvbuf: BufSpecV, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: send a block to each rank and receive one from each, of any sizes."""
        return self._prepared(self._plan_alltoallv(sendbuf, recvbuf))

    def Alltoallw_init(self, sendbuf: BufSpecW | InPlace, recvbuf: BufSpecW, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: send a block to each rank and receive one from each, of any sizes and datatypes."""
        return self._prepared(self._plan_alltoallw(sendbuf, recvbuf))

    def Reduce_init(
        self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec | None, op: Op = SUM, root: int = 0, info: Info = INFO_NULL
    ) -> Prequest:
        """Create a persistent request: combine all ranks' data at the root."""
        return self._prepared(self._plan_reduce(sendbuf, recvbuf, op, root))

    def Allreduce_init(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: combine all ranks' data at all ranks."""
        return self._prepared(self._plan_full_reduction("allreduce", sendbuf, recvbuf, op))

    def Reduce_scatter_block_init(
        self, sendbuf: BufSpecB | InPlace, recvbuf: BufSpec | BufSpecB, op: Op = SUM, info: Info = INFO_NULL
    ) -> Prequest:
        """Create a persistent request: combine all ranks' data, and distribute the result in equal blocks."""
        return self._prepared(self._plan_reduce_scatter_block(sendbuf, recvbuf, op))

    def Reduce_scatter_init(
        self,
        sendbuf: BufSpec | InPlace,
        recvbuf: BufSpec,
        recvcounts: Sequence[int] | None = None,
        op: Op = SUM,
        info: Info = INFO_NULL,
    ) -> Prequest:
        """Create a persistent request: combine all ranks' data, and distribute the result in blocks of any sizes."""
        return self._prepared(self._plan_reduce_scatter(sendbuf, recvbuf, recvcounts, op))
