"""Prefix reductions: blocking, nonblocking, persistent, on buffers and objects. Intracommunicators only, as in MPI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.buffers.typing import BufSpec, InPlace
from fakempi.mpi.collective.objects import ObjectCollectives
from fakempi.mpi.operations.op import SUM, Op
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.request import Request


class Scans(ObjectCollectives):
    """Scan, Exscan and their variants."""

    __slots__ = ()

    def Scan(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine the data of all ranks up to this one."""
        self._call(frame_at(1), "Scan", sendbuf, recvbuf, op)

    def Exscan(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine the data of all ranks before this one; rank 0's buffer is unchanged."""
        self._call(frame_at(1), "Exscan", sendbuf, recvbuf, op)

    def Iscan(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM) -> Request:
        """Start a nonblocking call: combine the data of all ranks up to this one."""
        return self._launch(self._plan_full_reduction("scan", sendbuf, recvbuf, op))

    def Iexscan(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM) -> Request:
        """Start a nonblocking call: combine the data of all ranks before this one; rank 0's buffer is unchanged."""
        return self._launch(self._plan_full_reduction("exscan", sendbuf, recvbuf, op))

    def Scan_init(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: combine the data of all ranks up to this one."""
        return self._prepared(self._plan_full_reduction("scan", sendbuf, recvbuf, op))

    def Exscan_init(self, sendbuf: BufSpec | InPlace, recvbuf: BufSpec, op: Op = SUM, info: Info = INFO_NULL) -> Prequest:
        """Create a persistent request: combine the data of all ranks before this one; rank 0's buffer is unchanged."""
        return self._prepared(self._plan_full_reduction("exscan", sendbuf, recvbuf, op))

    def scan(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """Return the objects of all ranks up to this one, combined."""
        return self._combine(frame_at(1), "scan", sendobj, op)

    def exscan(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """Return the objects of all ranks before this one, combined; None on rank 0."""
        return self._combine(frame_at(1), "exscan", sendobj, op)
