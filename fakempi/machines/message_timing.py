"""Measurements between two processes: ping-pongs, streams, sends, eager messages. Both processes call each function.

The first rank of a pair measures and decides when to stop; the second rank follows. Sizes are in bytes. All sizes are
measured in turn, round after round, so that a disturbance of some seconds affects a few rounds of all sizes, and not all
rounds of a few sizes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median, stdev
from typing import Any, NamedTuple

import numpy as np

BATCH_SECONDS = 5e-5
"""The approximate duration of a batch: long compared with the clock's resolution, and short, so that few are interrupted."""

MIN_BATCHES, PRECISION = 5, 0.03
"""The minimum number of batches, and the relative half-width of the 95 % confidence interval at which to stop."""

DATA, CONTROL = 71, 72
"""Tags."""

POLL_SECONDS = 2e-3
"""A send that has not ended after this time, without a receive, is not eager."""


Statistic = Callable[[list[float]], float]
Batch = Callable[[int], float]


class PairContext(NamedTuple):
    """One side of a pair.

    Attributes
    ----------
    comm, peer, first
        The communicator, the other rank, and whether this rank measures.
    out, into
        The buffers.
    MPI
        The module `mpi4py.MPI`.
    statistic
        Combines the times of all batches: `median` or `min`.
    noise
        For each measurement, its median divided by its minimum.
    """

    comm: Any
    peer: int
    first: bool
    out: Any
    into: Any
    MPI: Any
    statistic: Statistic
    noise: list[float]

    def decide(self, value: int) -> int:
        """Return, on both ranks, the number that the first rank passes."""
        cell = np.array([value], np.int64)
        if self.first:
            self.comm.Send(cell, self.peer, CONTROL)
        else:
            self.comm.Recv(cell, self.peer, CONTROL)
        return int(cell[0])


def new_context(comm: Any, members: tuple[int, int], max_bytes: int, MPI: Any, statistic: Statistic) -> PairContext:
    """Return the context of a pair of ranks for the calling rank, with buffers of `max_bytes` bytes."""
    first = comm.Get_rank() == members[0]
    out, into = np.zeros(max(1, max_bytes), np.uint8), np.zeros(max(1, max_bytes), np.uint8)
    return PairContext(comm, members[1] if first else members[0], first, out, into, MPI, statistic, [])


def measure_rounds(pair: PairContext, batches: Sequence[Batch], seconds: float) -> list[float]:
    """Call all batches in turn until the medians have `PRECISION` or the time is spent; return the statistic of each.

    `batch(n)` exchanges n messages, or rounds of messages, and returns the seconds for one.
    """
    counts = []
    for batch in batches:
        once = min(batch(1) for _ in range(3))
        counts.append(pair.decide(max(1, min(1000, int(BATCH_SECONDS / max(once, 1e-7))))))
        batch(counts[-1])  # warm-up
    found: list[list[float]] = [[] for _ in batches]
    end = time.perf_counter() + seconds
    while pair.decide(int(not all(map(_is_precise, found)) and (len(found[0]) < MIN_BATCHES or time.perf_counter() < end))):
        for batch, count, times in zip(batches, counts, found, strict=True):
            times.append(batch(count))
    pair.noise.extend(median(times) / min(times) if min(times) else 1.0 for times in found)
    return [pair.statistic(times) for times in found]


def _is_precise(times: list[float]) -> bool:
    if len(times) < MIN_BATCHES:
        return False
    return bool(1.96 * 1.2533 * stdev(times) / len(times) ** 0.5 <= PRECISION * median(times))


def ping_pong(pair: PairContext, nbytes: int) -> Batch:
    """Return a batch that measures the one-way time: half of a round trip."""
    MPI, comm, peer = pair.MPI, pair.comm, pair.peer
    out, into = [pair.out, nbytes, MPI.BYTE], [pair.into, nbytes, MPI.BYTE]

    def exchange(count: int) -> None:
        for _ in range(count):
            if pair.first:
                comm.Send(out, peer, DATA)
                comm.Recv(into, peer, DATA)
            else:
                comm.Recv(into, peer, DATA)
                comm.Send(out, peer, DATA)

    def batch(count: int) -> float:
        exchange(1)  # afterwards both processes are running
        start = MPI.Wtime()
        exchange(count)
        return float(MPI.Wtime() - start) / (2 * count)

    return batch


def window_of(pair: PairContext, nbytes: int) -> int:
    """Return the number of messages of a stream."""
    return max(4, min(32, len(pair.into) // max(1, nbytes)))


def gap_of(whole: float, window: int, one_way: float, none: float) -> float:
    """Return the time per message of a stream, without the latency of the last message and of the reply.

    `one_way` and `none` are the one-way times of a message of this size and of an empty message.
    """
    return max((whole - one_way - none) / (window - 1), whole / window / 10)


def stream(pair: PairContext, nbytes: int) -> Batch:
    """Return a batch that measures a one-way stream of `window_of` messages until the reply to the last one."""
    MPI, comm, peer = pair.MPI, pair.comm, pair.peer
    window = window_of(pair, nbytes)
    slices = [[pair.into[i * nbytes : (i + 1) * nbytes], nbytes, MPI.BYTE] for i in range(window)]
    fits = len(pair.into) >= window * nbytes
    targets = slices if fits else [[np.zeros(max(1, nbytes), np.uint8), nbytes, MPI.BYTE] for _ in range(window)]
    empty = [pair.out, 0, MPI.BYTE]

    def batch(count: int) -> float:
        total = 0.0
        for _ in range(count):
            if pair.first:
                comm.Recv([pair.into, 0, MPI.BYTE], peer, CONTROL)  # all receives are posted
                start = MPI.Wtime()
                MPI.Request.Waitall([comm.Isend([pair.out, nbytes, MPI.BYTE], peer, DATA) for _ in range(window)])
                comm.Recv([pair.into, 0, MPI.BYTE], peer, CONTROL)
                total += MPI.Wtime() - start
            else:
                requests = [comm.Irecv(target, peer, DATA) for target in targets]
                comm.Send(empty, peer, CONTROL)
                MPI.Request.Waitall(requests)
                comm.Send(empty, peer, CONTROL)
        return total / count

    return batch


def send_call(pair: PairContext, nbytes: int) -> Batch:
    """Return a batch that measures a blocking send whose receive has been posted."""
    MPI, comm, peer = pair.MPI, pair.comm, pair.peer
    empty = [pair.out, 0, MPI.BYTE]

    def batch(count: int) -> float:
        total = 0.0
        for _ in range(count):
            if pair.first:
                comm.Recv([pair.into, 0, MPI.BYTE], peer, CONTROL)
                start = MPI.Wtime()
                comm.Send([pair.out, nbytes, MPI.BYTE], peer, DATA)
                total += MPI.Wtime() - start
            else:
                request = comm.Irecv([pair.into, nbytes, MPI.BYTE], peer, DATA)
                comm.Send(empty, peer, CONTROL)
                request.Wait()
        return total / count

    return batch


def is_eager(pair: PairContext, nbytes: int) -> bool:
    """Return whether a send of this size ends before its receive is posted."""
    MPI, comm, peer = pair.MPI, pair.comm, pair.peer
    done = False
    if pair.first:
        request = comm.Isend([pair.out, nbytes, MPI.BYTE], peer, DATA)
        end = time.perf_counter() + POLL_SECONDS
        while not done and time.perf_counter() < end:
            done = bool(request.Test())
        comm.Send([pair.out, 0, MPI.BYTE], peer, CONTROL)  # now the receive may be posted
        if not done:
            request.Wait()
    else:
        comm.Recv([pair.into, 0, MPI.BYTE], peer, CONTROL)
        comm.Recv([pair.into, nbytes, MPI.BYTE], peer, DATA)
    return bool(pair.decide(int(done)))


def eager_probes(pair: PairContext, max_bytes: int) -> list[tuple[int, bool]]:
    """Return sizes and whether they are eager: powers of two, then bisections down to 64 bytes around the limit."""
    found = [(0, is_eager(pair, 0))]
    low, high = 0, 64
    while high <= max_bytes:
        found.append((high, is_eager(pair, high)))
        if not found[-1][1]:
            break
        low, high = high, high * 2
    while high <= max_bytes and high - low > 64:
        middle = (low + high) // 2
        found.append((middle, is_eager(pair, middle)))
        low, high = (middle, high) if found[-1][1] else (low, middle)
    return found
