"""LogGP: latency, overhead, gap per message and gap per byte.

A. Alexandrov, M. F. Ionescu, K. E. Schauser, C. Scheiman, "LogGP: incorporating long messages into the LogP model",
SPAA 1995, doi 10.1145/215399.215427.
"""

from __future__ import annotations

from dataclasses import dataclass

from fakempi.core.network.models.builtin import BuiltinModel
from fakempi.core.network.parameters import Time


@dataclass(eq=False, repr=False)
class LogGP(BuiltinModel):
    """Latency, overhead and gaps as separate parameters, in seconds.

    A message of n bytes arrives after o + (n-1) G + L + o. Its send ends after o + (n-1) G. It holds the sender's port for
    max(o, g) + (n-1) G, and the receiver's port for the same time until it arrives. Latency occupies no port.

    Parameters
    ----------
    L
        Latency.
    o
        Overhead of the processor, on each side.
    g, G
        Gap between two messages, and gap per byte.
    eager_limit, duplex, ports, compute_per_byte, files
        See `CostModel`.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 2, cost=fakempi.LogGP(L=5, o=1, g=2, G=0)).time
    7
    """

    L: Time = 5e-6
    o: Time = 1e-6
    g: Time = 2e-6
    G: Time = 1e-9

    def __post_init__(self) -> None:
        super().__post_init__()
        self.in_order = self.uniform_latency = type(self) is LogGP  # a subclass may override transfer

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Return the times of the ports, the sender and the receiver, which differ."""
        stream = (nbytes - 1) * self.G if nbytes else 0
        sent = self.o + stream
        return max(self.o, self.g) + stream, sent, sent + self.L + self.o

    def latency(self, source: int, dest: int, nbytes: int) -> Time:
        """Return the time between the intervals in which the ports of the sender and of the receiver are held."""
        if not self.uniform_latency:
            return super().latency(source, dest, nbytes)
        return max(0, self.o + self.L + self.o - max(self.o, self.g))
