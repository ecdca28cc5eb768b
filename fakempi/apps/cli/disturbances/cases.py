"""The cases of `--skew` and `--kill-each`: which rank is late, or dies at which of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fakempi.extensions.disturbance import LATE, Disturbance


@dataclass(frozen=True)
class DisturbedCase:
    """A rank that is late at every call, or dies at a call: the `call`-th one, from 1; 0 if it is late."""

    rank: int
    call: int = 0

    def disturbance(self) -> Disturbance:
        """Return the disturbance of a run."""
        return Disturbance(deaths={self.rank: self.call}) if self.call else Disturbance(late={self.rank: LATE})

    def words(self) -> list[str]:
        """Return the options of `fakempi run` that repeat the case."""
        return ["--kill-call", f"{self.rank}@{self.call}"] if self.call else ["--skew", str(self.rank)]

    def __str__(self) -> str:
        return f"rank {self.rank} dies at its call {self.call}" if self.call else f"rank {self.rank} is late at every call"


def deaths(counts: Mapping[int, int], runs: int) -> dict[int, list[DisturbedCase]]:
    """Return for each rank the calls at which it dies. If there are more than `runs`, they are spread evenly.

    >>> deaths({0: 5, 1: 5}, 6)[1]
    [DisturbedCase(rank=1, call=1), DisturbedCase(rank=1, call=3), DisturbedCase(rank=1, call=5)]
    """
    chosen: dict[int, list[DisturbedCase]] = {}
    left, ranks = runs, sorted(counts, key=lambda rank: (counts[rank], rank))  # what few calls leave goes to the other ranks
    for done, rank in enumerate(ranks):
        share = min(counts[rank], left // (len(ranks) - done))
        left -= share
        chosen[rank] = [DisturbedCase(rank, call) for call in _spread(counts[rank], share)]
    return dict(sorted(chosen.items()))


def _spread(count: int, share: int) -> list[int]:
    """Return `share` numbers from 1 to `count`, evenly spread, with the first and the last."""
    if share >= count:
        return list(range(1, count + 1))
    if share < 2:
        return [1] * share
    return sorted({1 + index * (count - 1) // (share - 1) for index in range(share)})
