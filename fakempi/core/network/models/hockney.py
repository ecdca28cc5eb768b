"""Hockney's model, which the four papers use: a transfer of n bytes takes t_s + n t_w.

R. W. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20(3), 1994,
doi 10.1016/S0167-8191(06)80021-9.
"""

from __future__ import annotations

from dataclasses import dataclass

from fakempi.core.network.models.builtin import BuiltinModel
from fakempi.core.network.parameters import Time


@dataclass(eq=False, repr=False)
class Hockney(BuiltinModel):
    """A transfer of n bytes takes t_s + n t_w, the same between all processes.

    `eager_limit=0` with `duplex=True, ports=1` is the single-port model of the papers: every send waits for its receive.

    Parameters
    ----------
    t_s
        Seconds to start a transfer.
    t_w
        Seconds per byte.
    eager_limit, duplex, ports, compute_per_byte, files
        See `CostModel`.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.Hockney(t_s=1, t_w=0)).time
    3
    """

    t_s: Time = 1e-6
    t_w: Time = 1e-9

    def __post_init__(self) -> None:
        super().__post_init__()
        self.in_order = type(self) is Hockney  # a subclass may override transfer
        self.linear = (self.t_s, self.t_w) if self.in_order else None

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Return t_s + n t_w for the ports, the sender and the receiver."""
        seconds = self.t_s + nbytes * self.t_w
        return seconds, seconds, seconds


def within_node() -> Hockney:
    """Return the default cost model of transfers within a node."""
    return Hockney(t_s=5e-7, t_w=2e-10)
