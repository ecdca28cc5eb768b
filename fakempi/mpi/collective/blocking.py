"""Blocking collective calls on buffers: each makes its plan and runs it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.region import WholeCall
from fakempi.mpi.buffers.typing import BufSpec, BufSpecB, BufSpecV, BufSpecW, InPlace
from fakempi.mpi.collective.repeated import RepeatedCalls
from fakempi.mpi.operations.op import SUM, Op


class Collectives(RepeatedCalls):
    """Barrier, Bcast and the other blocking calls."""

    __slots__ = ()

    def Barrier(self) -> None:
        """Wait until all ranks have called."""
        self._call(frame_at(1), "Barrier")

    def Bcast(self, buf: BufSpec, root: int = 0) -> None:
        """Copy the root's data to the buffers of all ranks."""
        self._call(frame_at(1), "Bcast", buf, None, None, root)

    def Gather(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecB | None, root: int = 0) -> None:
        """Gather equal blocks to the root."""
        self._call(frame_at(1), "Gather", sendbuf, recvbuf, None, root)

    def Gatherv(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecV | None, root: int = 0) -> None:
        """Gather blocks of any sizes to the root."""
        self._call(frame_at(1), "Gatherv", sendbuf, recvbuf, None, root)

    def Scatter(self, sendbuf: BufSpecB | None, recvbuf: BufSpec | InPlace, root: int = 0) -> None:
        """Distribute equal blocks of the root's data."""
        self._call(frame_at(1), "Scatter", recvbuf, sendbuf, None, root)

    def Scatterv(self, sendbuf: BufSpecV | None, recvbuf: BufSpec | InPlace, root: int = 0) -> None:
        """Distribute blocks of any sizes of the root's data."""
        self._call(frame_at(1), "Scatterv", recvbuf, sendbuf, None, root)

    def Allgather(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecB) -> None:
        """Gather equal blocks to all ranks."""
        self._call(frame_at(1), "Allgather", sendbuf, recvbuf)

    def Allgatherv(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpecV) -> None:
        """Gather blocks of any sizes to all ranks."""
        self._call(frame_at(1), "Allgatherv", sendbuf, recvbuf)

    def Alltoall(self, sendbuf: BufSpecB | InPlace, recvbuf: BufSpecB) -> None:
        """Send a block to each rank and receive one from each, all of one size."""
        self._call(frame_at(1), "Alltoall", sendbuf, recvbuf)

    def Alltoallv(self, sendbuf: BufSpecV | InPlace, recvbuf: BufSpecV) -> None:
        """Send a block to each rank and receive one from each, of any sizes."""
        self._call(frame_at(1), "Alltoallv", sendbuf, recvbuf)

    def Alltoallw(self, sendbuf: BufSpecW | InPlace, recvbuf: BufSpecW) -> None:
        """Send a block to each rank and receive one from each, of any sizes and datatypes."""
        self._plan_alltoallw(sendbuf, recvbuf)()

    def Reduce(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec | None, op: Op = SUM, root: int = 0) -> None:
        """Combine all ranks' data at the root."""
        self._call(frame_at(1), "Reduce", sendbuf, recvbuf, op, root)

    def Allreduce(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine all ranks' data at all ranks."""
        self._call(frame_at(1), "Allreduce", sendbuf, recvbuf, op)

    def Reduce_scatter_block(self, sendbuf: BufSpecB | InPlace, recvbuf: BufSpec | BufSpecB, op: Op = SUM) -> None:
        """Combine all ranks' data, and distribute the result in equal blocks."""
        self._call(frame_at(1), "Reduce_scatter_block", sendbuf, recvbuf, op)

    def Reduce_scatter(
        self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, recvcounts: Sequence[int] | None = None, op: Op = SUM
    ) -> None:
        """Combine all ranks' data, and distribute the result in blocks of any sizes."""
        self._peer_count()
        with WholeCall(self, "reduce_scatter") if recvcounts is None else nullcontext():  # an allgather of counts first
            self._plan_reduce_scatter(sendbuf, recvbuf, recvcounts, op)()
