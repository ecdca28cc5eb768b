"""A file server in modeled time: an access of n bytes in k contiguous pieces takes k t_s + n t_w."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapreplace

from fakempi.core.network.parameters import Parametrized, Time, check


@dataclass(eq=False, repr=False)
class FileServer(Parametrized):
    """The cost of accesses to files: `files=` of a cost model. Without one they take no time.

    Parameters
    ----------
    t_s, t_w
        Seconds for each contiguous piece, and for each byte.
    ports
        The number of accesses at a time.

    Examples
    --------
    >>> server = FileServer(t_s=1, t_w=0, ports=2).open()
    >>> [server.serve(0, 8) for _ in range(3)]
    [1, 1, 2]
    """

    t_s: Time = 1e-3
    t_w: Time = 1e-9
    ports: int = 1

    def __post_init__(self) -> None:
        check("FileServer", t_s=self.t_s, t_w=self.t_w)
        check("FileServer", minimum=1, ports=self.ports)

    def open(self) -> Queue:
        """Return the queue for a new run."""
        return Queue(self)


class Queue:
    """The server's ports, first come, first served."""

    def __init__(self, server: FileServer) -> None:
        self.server = server
        self.free_at: list[Time] = [0] * server.ports

    def serve(self, now: Time, nbytes: int, pieces: int = 1) -> Time:
        """Start an access now; return the time at which it ends."""
        end = max(now, self.free_at[0]) + (pieces * self.server.t_s + nbytes * self.server.t_w)
        heapreplace(self.free_at, end)
        return end
