"""The error of a fit at held-out sizes: each size except the smallest and the largest is held out once."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from fakempi.core.network.models.multi_level import ErrorRange
from fakempi.machines.piecewise_fit import MAX_PIECES, MAX_SIZES, fit_piecewise

RANGES = ((0, 1024), (1025, 65536), (65537, 2**62))
"""Ranges of sizes for which the error is stated: short, medium and long messages."""


class HeldOut(NamedTuple):
    """Residuals modeled / measured - 1 of all points that were held out, with their sizes; errors are absolute values."""

    sizes: list[int]
    residuals: list[float]

    @property
    def errors(self) -> list[float]:
        """The relative error |modeled / measured - 1| of each point."""
        return [abs(residual) for residual in self.residuals]

    @property
    def median(self) -> float:
        """The median of the errors."""
        return median(self.errors)

    def ranges(self) -> tuple[ErrorRange, ...]:
        """The median and the largest error for each range of sizes that has points."""
        found = []
        for low, high in RANGES:
            here = [(size, error) for size, error in zip(self.sizes, self.errors, strict=True) if low <= size <= high]
            if here:
                errors = [error for _, error in here]
                sizes = [size for size, _ in here]
                found.append(ErrorRange(min(sizes), max(sizes), round(median(errors), 4), round(max(errors), 4)))
        return tuple(found)


def held_out_errors(sizes: Sequence[int], seconds: Sequence[float], max_pieces: int = MAX_PIECES) -> HeldOut:
    """Return the residual at each inner size, of a fit to the other sizes.

    Inner sizes are all but the smallest and the largest. If there are more than `MAX_SIZES`, sizes are held out in
    `MAX_SIZES` groups, each of which contains every `MAX_SIZES`-th size: one fit for each group.
    """
    distinct = sorted(set(sizes))
    inner = distinct[1:-1]
    found = HeldOut([], [])
    for group in range(min(len(inner), MAX_SIZES)):
        held = set(inner[group::MAX_SIZES])
        kept = [(size, time) for size, time in zip(sizes, seconds, strict=True) if size not in held]
        cost = fit_piecewise([size for size, _ in kept], [time for _, time in kept], max_pieces)
        for size, time in zip(sizes, seconds, strict=True):
            if size in held:
                found.sizes.append(size)
                found.residuals.append(float(cost(size)) / time - 1)
    return found
