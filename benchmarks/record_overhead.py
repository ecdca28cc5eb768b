"""The cost of `python -m fakempi.record` per call: calls of MPI with the recorder and without it.

    mpiexec -n 2 python benchmarks/record_overhead.py [REPEATS]

Each row is a pair of times per call: without the recorder, and with it, in the same processes: the smallest of several
blocks, since other programs only add time. Computing times in the file exclude most of the overhead: the last row is the
computing time per call that the file has for calls without any computing between them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from mpi4py import MPI

from fakempi.apps.record import running

COMM = MPI.COMM_WORLD
A, B = np.zeros(1), np.zeros(1)
PEER = 1 - COMM.rank if COMM.size == 2 else 0


def send_and_receive() -> None:
    """A ping-pong: two calls."""
    if COMM.rank == 0:
        COMM.Send(A, PEER)
        COMM.Recv(B, PEER)
    else:
        COMM.Recv(B, PEER)
        COMM.Send(A, PEER)


def nonblocking() -> None:
    """Four calls to a rank itself, which wait for no other rank. Requests that are not completed delay Finalize."""
    receive = MPI.COMM_SELF.Irecv(B, 0)
    MPI.COMM_SELF.Isend(A, 0).Wait()
    receive.Wait()


def reduction() -> None:
    """One call on one rank: no waiting time."""
    MPI.COMM_SELF.Allreduce(A, B)


def objects() -> None:
    """One call with a pickled object on one rank."""
    MPI.COMM_SELF.bcast(7)


CASES: dict[str, tuple[Callable[[], None], int]] = {
    "Send and Recv, 2 ranks": (send_and_receive, 2), "Irecv, Isend, 2 Wait, 1 rank": (nonblocking, 4),
    "Allreduce, 1 rank": (reduction, 1), "bcast of an object, 1 rank": (objects, 1),
}  # fmt: skip


def measure(repeats: int) -> dict[str, float]:
    """Return the smallest time per call of each case, in µs."""
    found = {}
    for name, (function, calls) in CASES.items():
        best = float("inf")
        for _ in range(repeats):
            COMM.Barrier()
            start = perf_counter()
            for _ in range(500):
                function()
            best = min(best, (perf_counter() - start) / 500 / calls)
        found[name] = 1e6 * best
    return found


def main(repeats: int) -> None:
    """Print the times without the recorder and with it."""
    without = measure(repeats)
    with TemporaryDirectory() as scratch:
        session = running.start_recording(COMM.bcast(scratch))
        recorded = measure(repeats)
        session.log.end("completed")
        lines = (Path(COMM.bcast(scratch)) / f"rank-{COMM.rank}.txt").read_text().splitlines()
        COMM.Barrier()
    gaps = sorted(int(line.split()[1]) for line in lines if line.startswith(("send", "recv", "coll")))
    if COMM.rank == 0:
        print(f"µs per call, {MPI.Get_library_version().splitlines()[0]}, Python {sys.version.split()[0]}")
        print(f"{'':32}  without     with  difference")
        for name, time in without.items():
            print(f"{name:32}{time:9.3f}{recorded[name]:9.3f}{recorded[name] - time:12.3f}")
        print(f"{'recorded as computing (median)':32}{'':9}{gaps[len(gaps) // 2] / 1000:9.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
