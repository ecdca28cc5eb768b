"""Call sites of collective calls: how often, with which sizes, and the time that ranks spend in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from fakempi.apps.replay.calls import RecordedCall

Key: TypeAlias = tuple[int, str, int, int]
"""Call site, operation, number of ranks, and bytes if the call site is unknown."""


@dataclass
class SiteTime:
    """The collective calls of one call site, of one operation and on one number of ranks.

    Attributes
    ----------
    site
        The call site as text; "" if the recording has none: then calls of the same size are one site.
    lowest, highest
        The smallest and the largest number of bytes of a call, as the rules of algorithms count them (`rule_bytes`).
    block, itemsize
        The largest vector, or block of a rank, in bytes, and the size of its elements; vector forms count their average.
    commutative
        Whether all calls combine with a commutative operation.
    calls
        The number of calls of all ranks.
    seconds
        The time of all ranks in these calls, with the time in which they wait for ranks that call later.
    """

    site: str
    operation: str
    ranks: int
    lowest: int
    highest: int
    block: int = 0
    itemsize: int = 1
    commutative: bool = True
    calls: int = 0
    seconds: float = 0.0


class SiteTimes:
    """Collects the times of call sites during a replay."""

    def __init__(self, sites: Sequence[str]) -> None:
        self._sites = sites
        self.found: dict[Key, SiteTime] = {}

    def at(self, site: int, operation: str, ranks: int, call: RecordedCall) -> SiteTime:
        """Return the entry of a call, which counts the call."""
        nbytes = rule_bytes(operation, call, ranks)
        key = (site, operation, ranks, nbytes if site == 0 else 0)
        entry = self.found.get(key)
        if entry is None:
            entry = self.found[key] = SiteTime(self._sites[site], operation, ranks, nbytes, nbytes)
        elif nbytes < entry.lowest:
            entry.lowest = nbytes
        elif nbytes > entry.highest:
            entry.highest = nbytes
        block = block_bytes(operation, call, ranks)
        if block > entry.block:
            entry.block, entry.itemsize = block, call.itemsize
        if not call.commutative:
            entry.commutative = False
        entry.calls += 1
        return entry

    def by_time(self) -> list[SiteTime]:
        """Return copies of all entries, those with the longest time first."""
        entries = sorted(self.found.values(), key=lambda entry: (-entry.seconds, entry.site, entry.operation, entry.lowest))
        return [replace(entry) for entry in entries]


def rule_bytes(operation: str, call: RecordedCall, ranks: int) -> int:
    """Return the number of bytes of a call as rules count it: the vector, a block, or all blocks of a vector form.

    It is equal on all ranks, and 0 where some ranks do not know the sizes (gatherv, scatterv, alltoallv).
    """
    if operation in ("allgatherv", "reduce_scatter"):
        return sum(call.counts)
    return 0 if operation in ("gatherv", "scatterv", "alltoallv", "barrier") else call.nbytes


def block_bytes(operation: str, call: RecordedCall, ranks: int) -> int:
    """Return the size of the vector, or of one rank's block; with counts, the average block that a rank knows."""
    if not call.counts:
        return call.nbytes
    return sum(call.counts[:ranks]) // ranks
