"""Prefix reductions, in every way to call them: only within a group, for the ranks of two have no order."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.collective.calls import Plan
from fakempi.mpi.collective.objects import ObjectCollectives
from fakempi.mpi.operations.op import SUM, Op
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.request import Request

BufSpec = Any


class Scans(ObjectCollectives):
    """Scan, Exscan and their kin."""

    __slots__ = ()

    def Scan(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine the data of all ranks up to this one."""
        self._plan_scan(sendbuf, recvbuf, op)()

    def Exscan(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> None:
        """Combine the data of all ranks before this one; rank 0's buffer stays as it is."""
        self._plan_exscan(sendbuf, recvbuf, op)()

    def Iscan(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> Request:
        """Start: combine the data of all ranks up to this one."""
        return self._launch(self._plan_scan(sendbuf, recvbuf, op))

    def Iexscan(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM) -> Request:
        """Start: combine the data of all ranks before this one; rank 0's buffer stays as it is."""
        return self._launch(self._plan_exscan(sendbuf, recvbuf, op))

    def Scan_init(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM, info: Info = INFO_NULL) -> Prequest:
        """Prepare: combine the data of all ranks up to this one."""
        return self._prepared(self._plan_scan(sendbuf, recvbuf, op))

    def Exscan_init(self, sendbuf: BufSpec, recvbuf: BufSpec, op: Op = SUM, info: Info = INFO_NULL) -> Prequest:
        """Prepare: combine the data of all ranks before this one; rank 0's buffer stays as it is."""
        return self._prepared(self._plan_exscan(sendbuf, recvbuf, op))

    def scan(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """The objects of all ranks up to this one combined."""
        return self._combine(_getframe(1), "scan", sendobj, op)

    def exscan(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """The objects of all ranks before this one combined; None on rank 0."""
        return self._combine(_getframe(1), "exscan", sendobj, op)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _plan_scan(self, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        return self._plan_everywhere("scan", sendbuf, recvbuf, op)

    def _plan_exscan(self, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        return self._plan_everywhere("exscan", sendbuf, recvbuf, op)
