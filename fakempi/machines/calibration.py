"""Fit a `MultiLevel` cost model to samples, with its error at held-out sizes and its switch points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from fakempi.core.network.models.multi_level import Level, MultiLevel, PiecewiseLinear
from fakempi.machines.held_out import HeldOut, held_out_errors
from fakempi.machines.piecewise_fit import fit_piecewise
from fakempi.machines.samples import FEWEST_SIZES, Sample, by_level, check_samples

DEFAULT_EAGER_LIMIT = 65536
JUMP = 1.1
"""If the eager limit was not measured, it is assumed where the cost jumps by more than this factor between two pieces."""

SATURATED = 0.9
"""If k pairs together have less than this fraction of k times the rate of one pair, they share ports."""


class LevelReport(NamedTuple):
    """The quality of the fit of one level, for the printed report."""

    name: str
    points: int
    sizes: int
    held_out: HeldOut
    hockney: HeldOut
    switches: list[int]
    gap: str
    contention: str


class Calibration(NamedTuple):
    """A fitted model and measures of its quality."""

    model: MultiLevel
    levels: list[LevelReport]
    eager: str


def calibrate(
    samples: Sequence[Sample],
    *,
    ranks_per_node: int | None = None,
    ranks_per_socket: int | None = None,
    ranks_per_cache: int | None = None,
    provenance: Sequence[tuple[str, str]] = (),
) -> Calibration:
    """Fit a cost model to samples; raises `MPIValueError` if they cannot be used.

    Parameters
    ----------
    samples
        Measured times; every level needs one-way times of at least four sizes.
    ranks_per_node, ranks_per_socket, ranks_per_cache
        The default placement in the machine file.
    provenance
        Where the samples are from.

    Examples
    --------
    >>> sizes = [1, 8, 64, 512, 4096, 32768]
    >>> samples = [Sample("node", "time", n, 1e-6 + n * 1e-9) for n in sizes]
    >>> calibrate(samples).model.levels["node"].time
    PiecewiseLinear([(0, 1e-06, 1e-09)])
    """
    check_samples(samples)
    levels: dict[str, Level] = {}
    reports: list[LevelReport] = []
    for name, group in by_level(samples).items():
        if any(sample.kind == "time" for sample in group):
            levels[name], report = _fit_level(name, group)
            reports.append(report)
    eager_limit, eager = _eager_limit(samples, levels)
    notes = [("overheads", "; ".join(f"{one.name}: {one.gap}" for one in reports)), ("eager_limit", eager)]
    contention = "; ".join(f"{one.name}: {one.contention}" for one in reports if one.contention)
    notes += [("contention", contention)] if contention else []
    per_byte = [sample.seconds / sample.nbytes for sample in samples if sample.kind == "reduction" and sample.nbytes]
    model = MultiLevel(
        levels,
        ranks_per_node if "network" in levels else None,
        ranks_per_socket,
        ranks_per_cache,
        eager_limit=eager_limit,
        compute_per_byte=float(f"{median(per_byte):.4g}") if per_byte else 0.0,
        provenance=[*provenance, *notes],
    )
    return Calibration(model, reports, eager)


def _fit_level(name: str, group: Sequence[Sample]) -> tuple[Level, LevelReport]:
    times = [sample for sample in group if sample.kind == "time"]
    sizes, seconds = [sample.nbytes for sample in times], [sample.seconds for sample in times]
    time = fit_piecewise(sizes, seconds)
    gap, overhead = (_fit_optional([s for s in group if s.kind == kind]) for kind in ("gap", "overhead"))
    held = held_out_errors(sizes, seconds)
    ports, port_t_w, port_gap, contention = _contention([sample for sample in group if sample.kind == "concurrent"])
    level = Level(time, gap, overhead, ports, port_t_w, port_gap, held.ranges())
    measured = [kind for kind, cost in (("gap", gap), ("overhead", overhead)) if cost]
    words = f"{' and '.join(measured)} measured" if measured else "not measured, a message holds its ports until it arrives"
    switches = [after.start for before, after in pairwise(time.pieces) if not 1 / JUMP <= _jump(before, after) <= JUMP]
    report = LevelReport(
        name, len(times), len(set(sizes)), held, held_out_errors(sizes, seconds, 1), switches, words, contention
    )
    return level, report


def _fit_optional(samples: Sequence[Sample]) -> PiecewiseLinear | None:
    if len({sample.nbytes for sample in samples}) < FEWEST_SIZES:
        return None
    return fit_piecewise([sample.nbytes for sample in samples], [sample.seconds for sample in samples])


def _jump(before: tuple[int, float, float], after: tuple[int, float, float]) -> float:
    start = after[0]
    was = before[1] + (start - 1) * before[2]
    return (after[1] + start * after[2]) / was if was else 1.0


def _eager_limit(samples: Sequence[Sample], levels: dict[str, Level]) -> tuple[int, str]:
    """Return the eager limit and its source: measured, from a jump of the cost, or the default."""
    outermost = list(levels)[-1]
    probes = [sample for sample in samples if sample.kind == "eager" and sample.level == outermost]
    if probes:
        limit = max((sample.nbytes for sample in probes if sample.seconds), default=0)
        return limit, f"measured on level {outermost}: a send of up to {limit} bytes ends before its receive is posted"
    pieces = levels[outermost].time.pieces
    jumps = [(_jump(a, b), b.start - 1) for a, b in pairwise(pieces) if 256 <= b.start <= 2**21 and _jump(a, b) > JUMP]
    if jumps:
        factor, limit = max(jumps)
        return limit, f"inferred from a jump of the time on level {outermost} by a factor of {factor:.2f}"
    return DEFAULT_EAGER_LIMIT, "not measured: the default"


def _contention(samples: Sequence[Sample]) -> tuple[int | None, float, float, str]:
    """Return ports, seconds per byte and per message of the shared ports, and a description, from concurrent pairs."""
    most = max((sample.pairs for sample in samples), default=1)
    largest = max((sample.nbytes for sample in samples), default=0)
    rates = _rates(samples, largest)
    if most < 2 or 1 not in rates:
        return None, 0.0, 0.0, ""
    k, best = max(rates.items(), key=lambda item: item[1])
    share = best / rates[1]
    if k == most and share > SATURATED * most:
        return None, 0.0, 0.0, f"{most} pairs at a time are as fast as one: no limit seen"
    ports = max(1, round(share))
    small = _rates(samples, min(sample.nbytes for sample in samples))
    port_gap = ports / max(small.values())
    words = f"{most} pairs at a time have {share:.2f} times the bandwidth of one"
    return ports, float(f"{ports / (best * largest):.4g}"), float(f"{port_gap:.4g}"), words


def _rates(samples: Sequence[Sample], nbytes: int) -> dict[int, float]:
    """Return messages per second of all pairs together, by the number of pairs, for one size."""
    found: dict[int, list[float]] = {}
    for sample in samples:
        if sample.nbytes == nbytes:
            found.setdefault(sample.pairs, []).append(sample.pairs / sample.seconds)
    return {pairs: median(rates) for pairs, rates in sorted(found.items())}
