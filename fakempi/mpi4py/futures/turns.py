"""MPI for threads of a rank that may only call it one at a time: short calls under the rank's lock, and naps between."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fakempi import MPI


class Turns:
    """An intercommunicator whose calls hold the lock, and never for long. Where any thread may call, none is needed."""

    def __init__(self, comm: Any, lock: Any, backoff: float) -> None:
        self.comm, self.lock, self.backoff = comm, lock, backoff

    def send(self, obj: Any, dest: int) -> None:
        """Send an object, and look again and again whether it is done."""
        with self.lock:
            request = self.comm.issend(obj, dest)
        self._until(lambda: request.test()[0])

    def recv(self, status: MPI.Status) -> Any:
        """Receive an object from anybody, once there is one."""
        self._until(lambda: self.comm.iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status))
        with self.lock:
            return self.comm.recv(None, status.source, MPI.ANY_TAG, status)

    def bcast(self, obj: Any, root: int) -> Any:
        """The greeting, which is small."""
        with self.lock:
            return self.comm.bcast(obj, root)

    def Disconnect(self) -> None:
        """When all is done."""
        with self.lock:
            self.comm.Disconnect()

    def _until(self, happened: Callable[[], Any]) -> None:
        nap = 0.0
        while True:
            with self.lock:
                if happened():
                    return
            time.sleep(nap)
            nap = min(self.backoff, 2 * nap or self.backoff / 1024)
