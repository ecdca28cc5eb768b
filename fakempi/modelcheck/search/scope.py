"""The modes in which a program is explored: buffering of standard sends, synchronization of collective calls, data timing.

Most modes make a difference for few programs. A size limit of buffering makes a difference only if it lies between two
message sizes of the program, barriers in collective calls only if a call could return early, and the time at which data
move only if there are nonblocking calls with buffers. Modes are therefore added when a run shows new sizes or such calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from fakempi.modelcheck.search.records import RunRecord
from fakempi.modelcheck.steering.token import BUFFERINGS, LibraryMode

_BUFFERED = {"zero": "no", "infinite": "unlimited", "size": "size-limited"}


class Scope:
    """The modes of one search, and the message sizes, early returns and nonblocking calls seen so far."""

    def __init__(self, bufferings: Sequence[str], collectives: Sequence[str], data: Sequence[str]) -> None:
        self.bufferings, self.collectives, self.data = bufferings, collectives, data
        self.sizes: set[int] = set()  # bytes of standard sends
        self.early = False  # whether a run made a collective call that a rank may leave before all ranks have entered it
        self.pending = False  # whether a run made a nonblocking call with a buffer

    def widens(self, record: RunRecord) -> bool:
        """Record a run; return whether it showed new sizes, early returns or nonblocking calls."""
        before = len(self.sizes), self.early, self.pending
        self.sizes |= record.sizes
        self.early |= bool(record.early)
        self.pending |= record.pending
        return before != (len(self.sizes), self.early, self.pending)

    def modes(self) -> list[LibraryMode]:
        """Return all modes that can give different results, according to the runs so far."""
        limits = [LibraryMode.of(kind).limit for kind in self.bufferings if kind != "size"]
        if "size" in self.bufferings:
            sizes = sorted(self.sizes)
            if "infinite" in self.bufferings:
                sizes = sizes[:-1]  # a limit of the largest size buffers all messages
            limits += sizes or ([] if limits else [LibraryMode.of("size").limit])
        barriers = [kind == "synchronizing" for kind in self.collectives]
        if not self.early:
            barriers = barriers[:1]
        times = [kind == "late" for kind in self.data]
        if not self.pending:
            times = times[:1]
        return [LibraryMode(limit, barrier, late) for late in times for barrier in barriers for limit in limits]

    def describe(self) -> str:
        """Return the modes as a suffix for "all schedules": " with no and unlimited buffering, and minimal collectives"."""
        parts = []
        if self.sizes or len(self.bufferings) < len(BUFFERINGS):
            *first, last = (_BUFFERED[kind] for kind in BUFFERINGS if kind in self.bufferings)
            parts.append(f"{', '.join(first)}{' and ' * bool(first)}{last} buffering")
        if self.early:
            parts.append(f"{' and '.join(self.collectives)} collectives")
        if self.pending:
            parts.append(f"{' and '.join(self.data)} data")
        return f" with {', and '.join(parts)}" if parts else ""
