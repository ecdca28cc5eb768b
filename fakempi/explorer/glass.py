"""What part of a run is seen, and where the cursor is. Plain numbers; whoever draws asks for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

SMALLEST = 1e-9
"""Of the whole time: as little as can be seen at once."""


@dataclass(frozen=True)
class Glass:
    """A part of a run: times from `start` to `end`, `count` ranks from `first` on; the cursor is at a rank and a time."""

    time: float  # of the whole run
    ranks: int
    start: float
    end: float
    first: int
    count: int
    rank: int = 0
    at: float = 0.0

    @classmethod
    def whole(cls, time: float, ranks: int) -> Glass:
        """All of it."""
        time = time or 1e-6
        return cls(time, ranks, 0.0, time, 0, ranks)

    def zoom(self, factor: float, at: float | None = None) -> Glass:
        """See so many times as much time, with what is at `at`, or under the cursor, where it was."""
        at = self.at if at is None else at
        span = min(max((self.end - self.start) * factor, self.time * SMALLEST), self.time)
        share = min(max((at - self.start) / (self.end - self.start), 0.0), 1.0)
        return self.shown(at - share * span, span)

    def shown(self, start: float, span: float) -> Glass:
        """See so much from there on, or from as near as there is."""
        start = min(max(start, 0.0), self.time - span)
        return replace(self, start=start, end=start + span, at=min(max(self.at, start), start + span))

    def pan(self, share: float) -> Glass:
        """Move by a share of what is seen; the cursor comes along."""
        span = self.end - self.start
        moved = replace(self, at=self.at + share * span)
        return moved.shown(self.start + share * span, span)

    def fold(self, factor: float) -> Glass:
        """See so many times as many ranks, the cursor's among them."""
        count = min(max(round(self.count * factor), min(4, self.ranks)), self.ranks)
        if count == self.count:
            count = min(max(self.count + (1 if factor > 1 else -1), 1), self.ranks)
        return replace(self, count=count).of_ranks(self.rank - count // 2)

    def of_ranks(self, first: int) -> Glass:
        """See the ranks from there on."""
        return replace(self, first=min(max(first, 0), self.ranks - self.count))

    def to(self, rank: int, at: float) -> Glass:
        """The cursor there, and as little moved as it takes to see it."""
        rank, at = min(max(rank, 0), self.ranks - 1), min(max(at, 0.0), self.time)
        moved = replace(self, rank=rank, at=at)
        if not self.first <= rank < self.first + self.count:
            moved = moved.of_ranks(rank - self.count // 2)
        if not self.start <= at <= self.end:
            moved = moved.shown(at - (self.end - self.start) / 2, self.end - self.start)
        return moved
