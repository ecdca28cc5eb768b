"""Free: everything takes no time. For tests of logic alone."""

from __future__ import annotations

from fakempi.wire.cost import CostModel, Time


class Free(CostModel):
    """Transfers take no time, so ports are never busy and all clocks stay at 0 but for `compute`.

    Parameters
    ----------
    eager_limit
        Messages of at most so many bytes travel without waiting for their receive; with 0 none does.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.allreduce(1), 8, cost=fakempi.Free()).time
    0
    """

    def __init__(self, eager_limit: int = 65536) -> None:
        self.eager_limit = eager_limit
        self.in_order = type(self) is Free  # a subclass may override transfer
        self.validate()

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Nothing."""
        return 0, 0, 0

    def __repr__(self) -> str:
        return f"Free(eager_limit={self.eager_limit})"
