"""The modes in which a program is explored: the buffering of standard sends, and the synchronization of collective calls.

Most modes make a difference for few programs. A size limit of buffering makes a difference only if it lies between two
message sizes of the program, and barriers in collective calls only if a call could return early. Modes are therefore added
when a run shows new sizes or such calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from fakempi.modelcheck.search.records import RunRecord
from fakempi.modelcheck.steering.token import BUFFERINGS, LibraryMode

_BUFFERED = {"zero": "no", "infinite": "unlimited", "size": "size-limited"}


class Scope:
    """The modes of one search, and the message sizes and early returns seen so far."""

    def __init__(self, bufferings: Sequence[str], collectives: Sequence[str]) -> None:
        self.bufferings, self.collectives = bufferings, collectives
        self.sizes: set[int] = set()  # bytes of standard sends
        self.early = False  # whether a run made a collective call that a rank may leave before all ranks have entered it

    def widens(self, record: RunRecord) -> bool:
        """Record a run; return whether it showed new sizes or early returns."""
        new = not record.sizes <= self.sizes or (bool(record.early) and not self.early)
        self.sizes |= record.sizes
        self.early |= bool(record.early)
        return new

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
        return [LibraryMode(limit, barrier) for barrier in barriers for limit in limits]

    def describe(self) -> str:
        """Return the modes as a suffix for "all schedules": " with no and unlimited buffering, and minimal collectives"."""
        parts = []
        if self.sizes or len(self.bufferings) < len(BUFFERINGS):
            *first, last = (_BUFFERED[kind] for kind in BUFFERINGS if kind in self.bufferings)
            parts.append(f"{', '.join(first)}{' and ' * bool(first)}{last} buffering")
        if self.early:
            parts.append(f"{' and '.join(self.collectives)} collectives")
        return f" with {', and '.join(parts)}" if parts else ""
