"""Measure a real MPI: pairs of processes on each level, concurrent pairs, and reductions. All ranks call `measure`.

Only the processes of the pair that is measured are active. All others sleep between tests of a barrier, because polling
would take the cores of the active ones on an oversubscribed machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from fakempi.errors.plurals import counted
from fakempi.machines import message_timing as timing
from fakempi.machines.discovery import Pair, ProcessLocation, choose_pairs, concurrent_pairs
from fakempi.machines.samples import Sample

LARGEST = 4 * 2**20
SIZES = sorted({0, *(2**k for k in range(23)), *(3 * 2**k for k in range(21))})
"""Sizes of ping-pongs: zero, powers of two and three times powers of two, up to 4 MiB."""

COARSE = [0, *(4**k for k in range(12))]
"""Sizes of streams and of single sends."""

NAP = 5e-4
"""Seconds that an idle process sleeps between two tests."""

RESOLUTION = 1e-9
"""Seconds; a shorter measured send is recorded as this."""

SHARES = {"time": 0.6, "gap": 0.2, "overhead": 0.1, "concurrent": 0.08}
"""The shares of the seconds for each kind of measurement; the rest is for reductions and eager limits."""

Report = Callable[[str], object]


class MeasurementBudget(NamedTuple):
    """The budget in seconds, the largest number of pairs per level, and the statistic of repetitions: `median` or `min`."""

    seconds: float
    pairs: int = 4
    statistic: timing.Statistic = median


def measure(
    comm: Any, MPI: Any, locations: Sequence[ProcessLocation], plan: MeasurementBudget, report: Report
) -> tuple[list[Sample], float]:
    """Measure all levels; return the samples and the noise on rank 0; other ranks return no samples and 1.0.

    The noise is the median over all measurements of median / minimum of their batches. There are at least five
    rounds even if the budget is spent.

    Parameters
    ----------
    comm, MPI
        A communicator of mpi4py, and its module.
    locations
        The result of `find_locations`.
    plan
        The budget and the statistic.
    report
        Called on rank 0 with a line of text before each measurement.
    """
    chosen = choose_pairs(locations, plan.pairs)
    total = max(1, sum(map(len, chosen.values())))
    own: list[Sample] = []
    noise: list[float] = []
    for level, members in chosen.items():
        for pair in members:
            report(f"level {level}: ranks {pair[0]} and {pair[1]}")
            if comm.Get_rank() in pair:
                context = timing.new_context(comm, pair, 2 * LARGEST, MPI, plan.statistic)
                own += _measure_pair(context, level, plan.seconds / total)
                noise += context.noise if context.first else []
            quiet_barrier(comm)
        share = plan._replace(seconds=plan.seconds / len(chosen))
        own += _measure_concurrent(comm, MPI, level, concurrent_pairs(locations, level), share, report)
    report("reductions")
    if comm.Get_rank() == 0:
        own += _measure_reductions(MPI, next(iter(chosen)), plan)
    quiet_barrier(comm)
    gathered = comm.gather((own, noise))
    if comm.Get_rank():
        return [], 1.0
    return [sample for part, _ in gathered for sample in part], median(one for _, part in gathered for one in part)


def quiet_barrier(comm: Any) -> None:
    """Wait for all ranks; sleep between two tests."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(NAP)


def _measure_pair(pair: timing.PairContext, level: str, seconds: float) -> list[Sample]:
    times = timing.measure_rounds(pair, [timing.ping_pong(pair, n) for n in SIZES], SHARES["time"] * seconds)
    one_way = dict(zip(SIZES, times, strict=True))
    wholes = timing.measure_rounds(pair, [timing.stream(pair, n) for n in COARSE], SHARES["gap"] * seconds)
    sends = timing.measure_rounds(pair, [timing.send_call(pair, n) for n in COARSE], SHARES["overhead"] * seconds)
    found: list[tuple[str, int, float]] = [("time", nbytes, time) for nbytes, time in one_way.items()]
    for nbytes, whole, send in zip(COARSE, wholes, sends, strict=True):
        gap = timing.gap_of(whole, timing.window_of(pair, nbytes), one_way[nbytes], one_way[0])
        most = one_way[nbytes] + one_way[0]  # a wait for each message and a reply; a longer time is a disturbance
        found += [("gap", nbytes, min(gap, most)), ("overhead", nbytes, min(max(send, RESOLUTION), most))]
    for nbytes, eager in timing.eager_probes(pair, LARGEST):
        found.append(("eager", nbytes, float(eager)))
    return [Sample(level, *each) for each in found] if pair.first else []


def _measure_concurrent(
    comm: Any, MPI: Any, level: str, pairs: Sequence[Pair], plan: MeasurementBudget, report: Report
) -> list[Sample]:
    """Measure streams of 1, 2, 4 ... pairs at a time; the time of the slowest pair counts."""
    counts = [2**k for k in range(len(pairs).bit_length()) if 2**k <= len(pairs)]
    if len(pairs) < 2:
        return []
    found: list[Sample] = []
    share = plan._replace(seconds=SHARES["concurrent"] * plan.seconds / (2 * len(counts)))
    for count in counts:
        report(f"level {level}: {counted(count, 'pair')} at a time")
        members = pairs[:count]
        rank = comm.Get_rank()
        own = next((pair for pair in members if rank in pair), None)
        active = comm.Split(0 if own else 1, rank)
        if own:
            found += _concurrent_streams(comm, active, MPI, level, own, count, share)
        active.Free()
        quiet_barrier(comm)
    return found


def _concurrent_streams(
    comm: Any, active: Any, MPI: Any, level: str, own: Pair, count: int, plan: MeasurementBudget
) -> list[Sample]:
    pair = timing.new_context(comm, own, 2 * LARGEST, MPI, plan.statistic)
    found = []
    for nbytes in (8, 2**20):
        active.Barrier()
        (whole,) = timing.measure_rounds(pair, [timing.stream(pair, nbytes)], plan.seconds)
        gap = whole / timing.window_of(pair, nbytes)
        slowest = active.allreduce(gap if pair.first else 0.0, MPI.MAX)
        if pair.first and active.Get_rank() == 0:
            found.append(Sample(level, "concurrent", nbytes, slowest, count))
    return found


def _measure_reductions(MPI: Any, level: str, plan: MeasurementBudget) -> list[Sample]:
    """Measure the sum of two arrays of doubles, in bytes of one array."""
    found = []
    for nbytes in (2**13, 2**16, 2**19, 2**22):
        one, other = np.ones(nbytes // 8), np.ones(nbytes // 8)
        MPI.SUM.Reduce_local(one, other)
        times: list[float] = []
        end = time.perf_counter() + plan.seconds / 400
        while len(times) < timing.MIN_BATCHES or time.perf_counter() < end:
            start = MPI.Wtime()
            MPI.SUM.Reduce_local(one, other)
            times.append(MPI.Wtime() - start)
        found.append(Sample(level, "reduction", nbytes, plan.statistic(times)))
    return found
