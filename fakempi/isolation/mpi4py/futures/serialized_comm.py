"""MPI calls of threads below THREAD_MULTIPLE: short calls under the lock of the rank, with sleeps between polls."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fakempi import MPI


class SerializedComm:
    """An intercommunicator whose calls hold a lock for a short time. It is not needed with THREAD_MULTIPLE."""

    def __init__(self, comm: Any, lock: Any, backoff: float) -> None:
        self.comm, self.lock, self.backoff = comm, lock, backoff

    def send(self, obj: Any, dest: int) -> None:
        """Send an object and poll until it is received."""
        with self.lock:
            request = self.comm.issend(obj, dest)
        self._poll(lambda: request.test()[0])

    def recv(self, status: MPI.Status) -> Any:
        """Poll until an object arrives from any worker, and receive it."""
        self._poll(lambda: self.comm.iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status))
        with self.lock:
            return self.comm.recv(None, status.source, MPI.ANY_TAG, status)

    def bcast(self, obj: Any, root: int) -> Any:
        """Broadcast the start message, which is small."""
        with self.lock:
            return self.comm.bcast(obj, root)

    def Disconnect(self) -> None:
        """Disconnect the communicator."""
        with self.lock:
            self.comm.Disconnect()

    def _poll(self, is_done: Callable[[], Any]) -> None:
        delay = 0.0
        while True:
            with self.lock:
                if is_done():
                    return
            time.sleep(delay)
            delay = min(self.backoff, 2 * delay or self.backoff / 1024)
