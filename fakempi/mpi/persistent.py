"""Persistent requests: an operation that is described once and started many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.error_classes import ERR_REQUEST
from fakempi.mpi.buffered import Buffered
from fakempi.mpi.buffers import describe, describe_target, snapshot
from fakempi.mpi.complain import complaint
from fakempi.mpi.constants import ANY_SOURCE, ANY_TAG
from fakempi.mpi.request import Request


class Prequest(Request):
    """A request that can be started again after it has ended."""

    __slots__ = ("_start",)

    _start: Callable[[], Any] | None

    def __new__(cls, request: Request | None = None) -> Any:
        self = super().__new__(cls, request)
        self._start = getattr(request, "_start", None)
        return self

    @classmethod
    def _prepared(cls, comm: Any, buffer: Any, start: Callable[[], Any]) -> Prequest:
        self: Prequest = cls._of(comm, None, buffer)  # type: ignore[assignment]
        self._start = start
        return self

    def Start(self) -> None:
        """Start the operation."""
        self._check_active()
        if self._operation is not None:
            raise complaint(ERR_REQUEST, "the request is active: wait for it before it is started again.")
        self._cancelled = False
        assert self._start is not None
        self._operation = self._start()

    @classmethod
    def Startall(cls, requests: list[Prequest]) -> None:
        """Start all of them, in order."""
        for request in requests:
            request.Start()

    def _retire(self) -> None:
        self._operation = None  # inactive, and ready to be started again


class Persistent(Buffered):
    """Send_init and its kin. The buffer is described anew at each start, as it then is."""

    __slots__ = ()

    def Send_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        """Prepare a send."""
        return self._prepare(buf, lambda: self._post(*describe(buf), dest, tag))

    def Ssend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        """Prepare a synchronous send."""
        return self._prepare(buf, lambda: self._post(*describe(buf), dest, tag, eager=False))

    def Bsend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        """Prepare a buffered send."""

        def start() -> Any:
            content, nbytes = describe(buf)
            return self._post_buffered(snapshot(content), nbytes, dest, tag)

        return self._prepare(buf, start)

    def Rsend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        """Prepare a send to a receive that the program will know to be posted."""

        def start() -> Any:
            self._check_ready(dest, tag)
            return self._post(*describe(buf), dest, tag)

        return self._prepare(buf, start)

    def Recv_init(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Prequest:
        """Prepare a receive."""
        return self._prepare(buf, lambda: self._await(*describe_target(buf), source, tag))

    def _prepare(self, buf: Any, start: Callable[[], Any]) -> Prequest:
        self._check_alive()
        return Prequest._prepared(self, buf, start)
