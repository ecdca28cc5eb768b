"""The visible part of a run, and the cursor. Numbers only, independent of drawing."""

from __future__ import annotations

from dataclasses import dataclass, replace

SMALLEST = 1e-9
"""Smallest visible part of the whole time."""


@dataclass(frozen=True)
class Viewport:
    """The visible part of a run: times from `start` to `end`, `count` ranks from `first` on; the cursor is `rank`, `at`."""

    time: float  # of the whole run
    ranks: int
    start: float
    end: float
    first: int
    count: int
    rank: int = 0
    at: float = 0.0

    @classmethod
    def whole(cls, time: float, ranks: int) -> Viewport:
        """Return the viewport that shows the whole run."""
        time = time or 1e-6
        return cls(time, ranks, 0.0, time, 0, ranks)

    def zoom(self, factor: float, at: float | None = None) -> Viewport:
        """Return a viewport with `factor` times the span; the time `at`, by default the cursor's, keeps its position."""
        at = self.at if at is None else at
        span = min(max((self.end - self.start) * factor, self.time * SMALLEST), self.time)
        share = min(max((at - self.start) / (self.end - self.start), 0.0), 1.0)
        return self.shown(at - share * span, span)

    def shown(self, start: float, span: float) -> Viewport:
        """Return a viewport of `span` seconds that starts at `start`, or as near as possible."""
        start = min(max(start, 0.0), self.time - span)
        return replace(self, start=start, end=start + span, at=min(max(self.at, start), start + span))

    def pan(self, share: float) -> Viewport:
        """Return a viewport moved by a share of its span, together with the cursor."""
        span = self.end - self.start
        moved = replace(self, at=self.at + share * span)
        return moved.shown(self.start + share * span, span)

    def fold(self, factor: float) -> Viewport:
        """Return a viewport with `factor` times as many ranks, including the cursor's."""
        count = min(max(round(self.count * factor), min(4, self.ranks)), self.ranks)
        if count == self.count:
            count = min(max(self.count + (1 if factor > 1 else -1), 1), self.ranks)
        return replace(self, count=count).of_ranks(self.rank - count // 2)

    def of_ranks(self, first: int) -> Viewport:
        """Return a viewport of the ranks from `first` on."""
        return replace(self, first=min(max(first, 0), self.ranks - self.count))

    def to(self, rank: int, at: float) -> Viewport:
        """Return a viewport with the cursor at a rank and time, moved only if needed to show it."""
        rank, at = min(max(rank, 0), self.ranks - 1), min(max(at, 0.0), self.time)
        moved = replace(self, rank=rank, at=at)
        if not self.first <= rank < self.first + self.count:
            moved = moved.of_ranks(rank - self.count // 2)
        if not self.start <= at <= self.end:
            moved = moved.shown(at - (self.end - self.start) / 2, self.end - self.start)
        return moved
