"""Fit a piecewise-linear cost to measured times: change points, start-up times, times per byte.

Dynamic programming finds the pieces with the least sum of squared relative errors for each number of pieces; the Bayesian
information criterion chooses the number. Each piece is a least-squares line without negative coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fakempi.core.network.models.multi_level import PiecewiseLinear

Floats = NDArray[np.float64]

MAX_PIECES = 8
MAX_SIZES = 64
"""With more sizes, neighboring sizes are combined before the search for change points."""

NOISE = 1e-2
"""Relative errors below this do not justify another piece."""


class Line(NamedTuple):
    """A line t_s + n t_w and the sum of its squared relative errors."""

    t_s: float
    t_w: float
    error: float


def fit_piecewise(sizes: Sequence[int], seconds: Sequence[float], max_pieces: int = MAX_PIECES) -> PiecewiseLinear:
    """Return the piecewise-linear cost that fits measured times; with `max_pieces=1`, Hockney's model.

    >>> fit_piecewise([0, 1, 2, 4, 8, 16, 32], [2.0, 3.0, 4.0, 6.0, 20.0, 36.0, 68.0])
    PiecewiseLinear([(0, 2.0, 1.0), (5, 4.0, 2.0)])
    """
    xs, ys = medians(sizes, seconds)
    bounds = _bounds(xs, ys, max_pieces)
    lines = [fit_line(xs[low:high], ys[low:high]) for low, high in pairwise(bounds)]
    starts = [0]
    for line, next_line, index in zip(lines, lines[1:], bounds[1:], strict=False):
        starts.append(_change_point(line, next_line, xs[index - 1], xs[index]))
    return PiecewiseLinear([(start, *map(_rounded, line[:2])) for start, line in zip(starts, lines, strict=True)])


def _rounded(number: float) -> float:
    """Return a number with six digits; measurements are less precise."""
    return float(f"{number:.6g}")


def medians(sizes: Sequence[int], seconds: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the distinct sizes and the median time of each; many sizes are combined to `MAX_SIZES` groups."""
    xs, ys = np.asarray(sizes, float), np.asarray(seconds, float)
    distinct = np.unique(xs)
    centers = np.array([float(np.median(ys[xs == x])) for x in distinct])
    if len(distinct) <= MAX_SIZES:
        return distinct, centers
    groups = np.array_split(np.arange(len(distinct)), MAX_SIZES)
    return np.array([distinct[g].mean() for g in groups]), np.array([centers[g].mean() for g in groups])


def fit_line(xs: Floats, ys: Floats) -> Line:
    """Return the line with the least sum of squared relative errors and coefficients of at least 0."""
    u, v = 1 / ys, xs / ys  # minimize |t_s u + t_w v - 1|
    uu, uv, vv = float(u @ u), float(u @ v), float(v @ v)
    su, sv = float(u.sum()), float(v.sum())
    det = uu * vv - uv * uv
    t_s, t_w = (0.0, 0.0)
    if det > 1e-12 * uu * vv:
        t_s, t_w = (su * vv - sv * uv) / det, (sv * uu - su * uv) / det
    if t_s < 0 or t_w < 0 or det <= 1e-12 * uu * vv:
        flat, steep = (su / uu, 0.0), (0.0, sv / vv if vv else 0.0)
        t_s, t_w = min(flat, steep, key=lambda line: _error(u, v, *line))
    return Line(t_s, t_w, _error(u, v, t_s, t_w))


def _error(u: Floats, v: Floats, t_s: float, t_w: float) -> float:
    residuals = t_s * u + t_w * v - 1
    return float(residuals @ residuals)


def _bounds(xs: Floats, ys: Floats, max_pieces: int) -> list[int]:
    """Return the indices at which pieces start, and the number of sizes; every piece has at least two sizes."""
    n = len(xs)
    errors = np.full((n + 1, n + 1), inf)
    for low in range(n):
        for high in range(low + 2, n + 1):
            errors[low, high] = fit_line(xs[low:high], ys[low:high]).error
    if n < 2:
        return [0, n]
    best = errors[0].copy()
    starts: list[NDArray[np.intp]] = []
    choice, least = [0, n], inf
    for pieces in range(1, min(max_pieces, n // 2) + 1):
        if pieces > 1:
            totals = best[:, None] + errors
            starts.append(totals.argmin(axis=0))
            best = totals.min(axis=0)
        score = n * log(best[n] / n + NOISE**2) + 3 * pieces * log(n)
        if score < least - 1e-9:
            choice, least = _traced(starts, n), score
    return choice


def _traced(starts: list[NDArray[np.intp]], n: int) -> list[int]:
    """Return the bounds of the best pieces, traced from the last piece back to the first."""
    bounds = [n]
    for row in reversed(starts):
        bounds.append(int(row[bounds[-1]]))
    return [*reversed(bounds)] if bounds[-1] == 0 else [0, *reversed(bounds)]


def _change_point(first: Line, second: Line, low: float, high: float) -> int:
    """Return the first size of the second line: where the lines intersect between `low` and `high`, otherwise low + 1.

    `low` is the last measured size of the first line, `high` the first measured size of the second.
    """
    if first.t_w != second.t_w:
        intersection = (second.t_s - first.t_s) / (first.t_w - second.t_w)
        if low < intersection <= high:
            return max(int(low) + 1, ceil(intersection))
    return int(low) + 1
