"""Hockney's model, which the four papers use: a transfer of n bytes takes t_s + n t_w.

R. W. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20(3), 1994,
doi 10.1016/S0167-8191(06)80021-9.
"""

from __future__ import annotations

from fakempi.core.network.cost import CostModel, Time, check
from fakempi.core.network.files import FileServer


class Hockney(CostModel):
    """A transfer of n bytes takes t_s + n t_w, the same between all processes.

    `eager_limit=0` with `duplex=True, ports=1` is the single-port model of the papers: every send waits for its receive.

    Parameters
    ----------
    t_s
        Seconds to start a transfer.
    t_w
        Seconds per byte.
    eager_limit
        A message of at most this number of bytes does not wait for its receive. With 0, every message waits.
    duplex
        Whether a process can send and receive at the same time.
    ports
        The number of messages that a process can send at a time, and the number that it can receive at a time.
    compute_per_byte
        Modeled seconds to combine one byte in a reduction.
    files
        The cost of accesses to files; None: they take no time.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.Hockney(t_s=1, t_w=0)).time
    3
    """

    def __init__(
        self,
        t_s: Time = 1e-6,
        t_w: Time = 1e-9,
        eager_limit: int = 65536,
        duplex: bool = True,
        ports: int = 1,
        compute_per_byte: Time = 0,
        files: FileServer | None = None,
    ) -> None:
        self.t_s, self.t_w = t_s, t_w
        self.in_order = type(self) is Hockney  # a subclass may override transfer
        self.linear = (t_s, t_w) if self.in_order else None
        self.eager_limit, self.duplex, self.ports = eager_limit, duplex, ports
        self.compute_per_byte, self.files = compute_per_byte, files
        self.validate()

    def validate(self) -> None:
        """Raise an error if a cost is negative."""
        super().validate()
        check("Hockney", t_s=self.t_s, t_w=self.t_w)

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Return t_s + n t_w for the ports, the sender and the receiver."""
        seconds = self.t_s + nbytes * self.t_w
        return seconds, seconds, seconds
