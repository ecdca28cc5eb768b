"""Collective communication of buffers: each call makes its plan and carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from sys import _getframe
from typing import Any

from fakempi.mpi.base.region import WholeCall
from fakempi.mpi.collective.sized import SizedAgain
from fakempi.mpi.operations.op import SUM, Op

BufSpec = Any


class Collectives(SizedAgain):
    """Barrier, Bcast and their kin, blocking."""

    __slots__ = ()

    def Barrier(self) -> None:
        """Wait until all ranks have come."""
        self._barrier_again(_getframe(1), "Barrier")

    def Bcast(self, buf: BufSpec, root: int = 0) -> None:
        """Leave the root's data in everybody's buffer."""
        self._bcast_again(_getframe(1), "Bcast", buf, root)

    def Gather(self, sendbuf: BufSpec, recvbuf: BufSpec | None, root: int = 0) -> None:
        """Gather equal blocks to the root."""
        self._gather_again(_getframe(1), "Gather", sendbuf, recvbuf, root, self._plan_gather)

    def Gatherv(self, sendbuf: BufSpec, recvbuf: BufSpec | None, root: int = 0) -> None:
        """Gather blocks of any sizes to the root."""
        self._gatherv_again(_getframe(1), "Gatherv", sendbuf, recvbuf, root, self._plan_gatherv)

    def Scatter(self, sendbuf: BufSpec | None, recvbuf: BufSpec, root: int = 0) -> None:
        """Deal out equal blocks of the root's data."""
        self._scatter_again(_getframe(1), "Scatter", sendbuf, recvbuf, root, self._plan_scatter)

    def Scatterv(self, sendbuf: BufSpec | None, recvbuf: BufSpec, root: int = 0) -> None:
        """Deal out blocks of any sizes of the root's data."""
        self._scatterv_again(_getframe(1), "Scatterv", sendbuf, recvbuf, root, self._plan_scatterv)

    def Allgather(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Gather equal blocks to all ranks."""
        self._move_again(_getframe(1), "Allgather", sendbuf, recvbuf, self._plan_allgather)

    def Allgatherv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Gather blocks of any sizes to all ranks."""
        self._allgatherv_again(_getframe(1), "Allgatherv", sendbuf, recvbuf, self._plan_allgatherv)

    def Alltoall(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each rank a block and get one from each, all of one size."""
        self._move_again(_getframe(1), "Alltoall", sendbuf, recvbuf, self._plan_alltoall)

    def Alltoallv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each rank a block and get one from each, of any sizes."""
        self._alltoallv_again(_getframe(1), "Alltoallv", sendbuf, recvbuf, self._plan_alltoallv)

    def Alltoallw(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each rank a block and get one from each, of any sizes and datatypes."""
        self._plan_alltoallw(sendbuf, recvbuf)()

    def Reduce(self, sendbuf: BufSpec, recvbuf: BufSpec | None, op: Op = SUM, root: int = 0) -> None:
        """Combine all ranks' data at the root."""
        self._reduce_to_root_again(_getframe(1), sendbuf, recvbuf, op, root)

    def Allreduce(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine all ranks' data at all ranks."""
        self._reduce_again(_getframe(1), "Allreduce", sendbuf, recvbuf, op, self._plan_allreduce)

    def Reduce_scatter_block(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine all ranks' data, and deal out the result in equal blocks."""
        self._reduce_again(_getframe(1), "Reduce_scatter_block", sendbuf, recvbuf, op, self._plan_reduce_scatter_block)

    def Reduce_scatter(
        self, sendbuf: BufSpec, recvbuf: BufSpec, recvcounts: Sequence[int] | None = None, op: Op = SUM
    ) -> None:
        """Combine all ranks' data, and deal out the result in blocks of any sizes."""
        self._everybody()
        with WholeCall(self, "reduce_scatter") if recvcounts is None else nullcontext():  # an allgather of counts first
            self._plan_reduce_scatter(sendbuf, recvbuf, recvcounts, op)()
