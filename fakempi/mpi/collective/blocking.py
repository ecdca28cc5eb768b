"""Collective communication of buffers: each call makes its plan and carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
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
        self._barrier_again(_getframe(1))

    def Bcast(self, buf: BufSpec, root: int = 0) -> None:
        """Leave the root's data in everybody's buffer."""
        self._bcast_again(_getframe(1), "Bcast", buf, root)

    def Gather(self, sendbuf: BufSpec, recvbuf: BufSpec | None, root: int = 0) -> None:
        """Gather equal blocks to the root."""
        plan = partial(self._plan_gather, sendbuf, recvbuf, root)
        self._gather_again(_getframe(1), "Gather", sendbuf, recvbuf, root, plan)

    def Gatherv(self, sendbuf: BufSpec, recvbuf: BufSpec | None, root: int = 0) -> None:
        """Gather blocks of any sizes to the root."""
        plan = partial(self._plan_gatherv, sendbuf, recvbuf, root)
        self._gatherv_again(_getframe(1), "Gatherv", sendbuf, recvbuf, root, plan)

    def Scatter(self, sendbuf: BufSpec | None, recvbuf: BufSpec, root: int = 0) -> None:
        """Deal out equal blocks of the root's data."""
        plan = partial(self._plan_scatter, sendbuf, recvbuf, root)
        self._scatter_again(_getframe(1), "Scatter", sendbuf, recvbuf, root, plan)

    def Scatterv(self, sendbuf: BufSpec | None, recvbuf: BufSpec, root: int = 0) -> None:
        """Deal out blocks of any sizes of the root's data."""
        plan = partial(self._plan_scatterv, sendbuf, recvbuf, root)
        self._scatterv_again(_getframe(1), "Scatterv", sendbuf, recvbuf, root, plan)

    def Allgather(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Gather equal blocks to all ranks."""
        self._move_again(_getframe(1), sendbuf, recvbuf, self._plan_allgather)

    def Allgatherv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Gather blocks of any sizes to all ranks."""
        plan = partial(self._plan_allgatherv, sendbuf, recvbuf)
        self._allgatherv_again(_getframe(1), "Allgatherv", sendbuf, recvbuf, plan)

    def Alltoall(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each rank a block and get one from each, all of one size."""
        self._move_again(_getframe(1), sendbuf, recvbuf, self._plan_alltoall)

    def Alltoallv(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each rank a block and get one from each, of any sizes."""
        plan = partial(self._plan_alltoallv, sendbuf, recvbuf)
        self._alltoallv_again(_getframe(1), "Alltoallv", sendbuf, recvbuf, plan)

    def Alltoallw(self, sendbuf: BufSpec, recvbuf: BufSpec) -> None:
        """Give each rank a block and get one from each, of any sizes and datatypes."""
        self._plan_alltoallw(sendbuf, recvbuf)()

    def Reduce(self, sendbuf: BufSpec, recvbuf: BufSpec | None, op: Op = SUM, root: int = 0) -> None:
        """Combine all ranks' data at the root."""
        self._reduce_to_root_again(_getframe(1), sendbuf, recvbuf, op, root)

    def Allreduce(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine all ranks' data at all ranks."""
        self._reduce_again(_getframe(1), sendbuf, recvbuf, op, self._plan_allreduce)

    def Reduce_scatter_block(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine all ranks' data, and deal out the result in equal blocks."""
        self._reduce_again(_getframe(1), sendbuf, recvbuf, op, self._plan_reduce_scatter_block)

    def Reduce_scatter(
        self, sendbuf: BufSpec, recvbuf: BufSpec, recvcounts: Sequence[int] | None = None, op: Op = SUM
    ) -> None:
        """Combine all ranks' data, and deal out the result in blocks of any sizes."""
        self._everybody()
        with WholeCall(self, "reduce_scatter") if recvcounts is None else nullcontext():  # an allgather of counts first
            self._plan_reduce_scatter(sendbuf, recvbuf, recvcounts, op)()
