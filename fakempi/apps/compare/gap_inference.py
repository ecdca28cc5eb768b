"""Infer costs of a machine from measured broadcasts: the time for which a message holds its sender, and its time in a tree.

Ping-pongs do not separate the sender's overhead from the latency. In a linear broadcast the root sends one message after the
other, so its time depends mostly on the gap. For each size, the gap is a share of the one-way time, chosen so that emulated
linear broadcasts take as long as the measured ones, in the median over the numbers of ranks.

A ping-pong sends a buffer that is never changed, which stays in the caches of both processes. A rank of a tree forwards data
that has just been written, and several pairs of processes use the memory at the same time. If there are measured broadcasts
by other algorithms, the one-way time of each size is multiplied by a factor, chosen so that these broadcasts take as long as
measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from collectives import Algorithm, Case, find
from fakempi.apps.compare.benchmark_loop import loop_average, makespan
from fakempi.core.network.models.multi_level import Level, MultiLevel, PiecewiseLinear
from fakempi.machines.piecewise_fit import fit_piecewise
from fakempi.machines.samples import FEWEST_SIZES, input_error

LEAST = 0.02
"""The smallest share of the one-way time that is tried."""

STEPS = 7
"""Bisections of the share; after the last one it is known to less than a hundredth."""

MOST_RANKS = 4
"""Numbers of ranks that are emulated per size: the largest ones, which depend most on the gap."""

ROUNDS = 3
"""The number of times that factor and share are chosen alternately, since each affects the other slightly."""


class TreeTime(NamedTuple):
    """The measured seconds of a broadcast that is not linear."""

    algorithm: Algorithm
    case: Case
    seconds: float


def infer_gap(
    model: MultiLevel, measured: Iterable[tuple[int, int, float]], averages: bool, trees: Sequence[TreeTime] = ()
) -> MultiLevel:
    """Return the model with a gap for every level that has none, from linear broadcasts.

    Parameters
    ----------
    model
        A model with one-way times.
    measured
        Number of ranks, bytes and seconds of linear broadcasts.
    averages
        Whether the seconds are averages over ranks, as in the output of `osu_bcast`, rather than of the slowest rank.
    trees
        Broadcasts by other algorithms; if there are some of every size, the one-way times are also changed.
    """
    by_size: dict[int, dict[int, float]] = defaultdict(dict)
    for ranks, nbytes, seconds in measured:
        if ranks > 2:  # with two ranks, the only message is the last one
            by_size[nbytes][ranks] = seconds
    if len(by_size) < FEWEST_SIZES:
        raise input_error(
            f"the gap needs linear broadcasts on 3 or more ranks of at least {FEWEST_SIZES} sizes, and there "
            f"{'is' if len(by_size) == 1 else 'are'} {len(by_size)}: measure bcast linear."
        )
    trees = [tree for tree in trees if tree.case.p > 2 and tree.case.m in by_size]
    found = {
        nbytes: _factor_and_share(model, nbytes, times, [tree for tree in trees if tree.case.m == nbytes], averages)
        for nbytes, times in sorted(by_size.items())
    }
    levels = {name: _with_costs(level, found, bool(trees)) for name, level in model.levels.items()}
    middle = median(share for _, share in found.values())
    note = f"gap inferred from linear broadcasts of {len(found)} sizes: {middle:.2f} of the one-way time"
    if trees:
        factors = [factor for factor, _ in found.values()]
        note += (
            f"; one-way times are those of ping-pongs times {min(factors):.2f} to {max(factors):.2f}, inferred from "
            f"{len(trees)} other broadcasts; the errors are those of ping-pongs without this factor"
        )
    provenance = [(key, note if key == "overheads" else text) for key, text in model.provenance]
    return _copy(model, levels, provenance)


def _with_costs(level: Level, found: Mapping[int, tuple[float, float]], slower: bool) -> Level:
    """Return a level with a gap, and with changed one-way times if there were trees."""
    sizes = list(found)
    times = [found[nbytes][0] * float(level.time(nbytes)) for nbytes in sizes]
    gap = fit_piecewise(sizes, [found[nbytes][1] * time for nbytes, time in zip(sizes, times, strict=True)])
    return level._replace(time=fit_piecewise(sizes, times) if slower else level.time, gap=level.gap or gap)


def _factor_and_share(
    model: MultiLevel, nbytes: int, linear: Mapping[int, float], trees: Sequence[TreeTime], averages: bool
) -> tuple[float, float]:
    """Return the factor of the one-way time, 1 without trees, and the share of the product that is the gap."""
    factor = 1.0
    seconds = loop_average if averages else makespan
    for _ in range(ROUNDS):
        levels = {name: level._replace(time=_times(level.time, factor)) for name, level in model.levels.items()}
        slower = _copy(model, levels, ())
        share = _share(slower, nbytes, linear, averages)
        if not trees:
            break
        machine = _copy(slower, {name: _scaled(level, share) for name, level in slower.levels.items()}, ())
        factor /= median(float(seconds(tree.algorithm, tree.case, machine)) / tree.seconds for tree in trees)
    return factor, share


def _times(cost: PiecewiseLinear, factor: float) -> PiecewiseLinear:
    return PiecewiseLinear([(piece.start, factor * piece.t_s, factor * piece.t_w) for piece in cost.pieces])


def _copy(model: MultiLevel, levels: dict[str, Level], provenance: Iterable[tuple[str, str]]) -> MultiLevel:
    return MultiLevel(
        levels, model.ranks_per_node, model.ranks_per_socket, model.ranks_per_cache,
        eager_limit=model.eager_limit, duplex=model.duplex,
        ports=model.ports, compute_per_byte=model.compute_per_byte, provenance=provenance,
    )  # fmt: skip


def _share(model: MultiLevel, nbytes: int, times: Mapping[int, float], averages: bool) -> float:
    """Return the share of the one-way time that makes the emulated times as long as the measured ones."""
    ranks = sorted(times)[-MOST_RANKS:]
    seconds = loop_average if averages else makespan
    linear = find("bcast", "linear")

    def ratio(share: float) -> float:
        machine = _copy(model, {name: _scaled(level, share) for name, level in model.levels.items()}, ())
        return median(float(seconds(linear, Case(p, nbytes), machine)) / times[p] for p in ranks)

    low, high = LEAST, 1.0
    if ratio(high) <= 1:
        return high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if ratio(middle) > 1 else (middle, high)
    return (low + high) / 2


def _scaled(level: Level, share: float) -> Level:
    """Return a level whose gap is a share of its time at every size, also for the messages of the benchmark's barrier."""
    return level._replace(gap=_times(level.time, share), overhead=None)
