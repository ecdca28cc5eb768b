"""LogGP: latency, overhead, gap per message and gap per byte.

A. Alexandrov, M. F. Ionescu, K. E. Schauser, C. Scheiman, "LogGP: incorporating long messages into the LogP model",
SPAA 1995, doi 10.1145/215399.215427.
"""

from __future__ import annotations

from fakempi.wire.cost import CostModel, Time, check


class LogGP(CostModel):
    """Latency, overhead and gaps apart, in seconds.

    A message of n bytes is there after o + (n-1) G + L + o. Its sender is done after o + (n-1) G, and the ports of
    both sides are free for the next one after max(o, g) + (n-1) G. Latency holds no port.

    Parameters
    ----------
    L
        Latency.
    o
        Overhead of the processor, at each side.
    g, G
        Gap between two messages, and gap for each byte.
    eager_limit
        Messages of at most so many bytes travel without waiting for their receive; with 0 none does.
    duplex
        Whether a process can send and receive at the same time.
    ports
        How many transfers a process can take part in at a time, each way.
    compute_per_byte
        Modelled seconds to combine one byte in a reduction.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 2, cost=fakempi.LogGP(L=5, o=1, g=2, G=0)).time
    7
    """

    def __init__(
        self,
        L: Time = 5e-6,
        o: Time = 1e-6,
        g: Time = 2e-6,
        G: Time = 1e-9,
        *,
        eager_limit: int = 65536,
        duplex: bool = True,
        ports: int = 1,
        compute_per_byte: Time = 0,
    ) -> None:
        self.L, self.o, self.g, self.G = L, o, g, G
        self.in_order = type(self) is LogGP  # a subclass may override transfer
        self.eager_limit, self.duplex, self.ports = eager_limit, duplex, ports
        self.compute_per_byte = compute_per_byte
        self.validate()

    def validate(self) -> None:
        """Refuse negative costs."""
        super().validate()
        check("LogGP", L=self.L, o=self.o, g=self.g, G=self.G)

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """The three ends differ: the port's, the sender's, the receiver's."""
        stream = (nbytes - 1) * self.G if nbytes else 0
        sent = self.o + stream
        return max(self.o, self.g) + stream, sent, sent + self.L + self.o

    def __repr__(self) -> str:
        return f"LogGP(L={self.L!r}, o={self.o!r}, g={self.g!r}, G={self.G!r}, eager_limit={self.eager_limit})"
