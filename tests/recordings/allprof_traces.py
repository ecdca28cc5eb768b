"""Writes traces as liballprof does, from the arguments that its wrappers print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

DOUBLE, INT, BYTE = "10,8,8", "1,4,4", "13,1,1"
WORLD = 1140850688  # MPICH's handle
TITLE = "# htor's PMPI Tracer 1.0 Output File\n# time: Thu Nov 19 16:00:00 2026\n# hostname: n0.(none)\n\n"


class AllprofRank:
    """The trace of one rank: calls take a microsecond each, after the given computing time."""

    def __init__(self, rank: int, ranks: int, world: int = WORLD) -> None:
        self.world = f"{world},{rank},{ranks}"
        self.time = 1_000_000.0
        self.text = f"{TITLE}MPI_Init:-:140737:140738:{self.time:.0f}\n"

    def call(self, name: str, *arguments: object, after: float = 0) -> None:
        """Append a call with its arguments, which may be computing for `after` µs before."""
        start = self.time + after
        self.time = start + 1
        self.text += ":".join([f"MPI_{name}", f"{start:.0f}", *map(str, arguments), f"{self.time:.0f}"]) + "\n"

    def end(self) -> str:
        """Return the text with MPI_Finalize."""
        return f"{self.text}# Finalize clockdiff: 0.0\nMPI_Finalize:{self.time:.0f}:-\n"


def write(directory: Path, ranks: Sequence[AllprofRank]) -> Path:
    """Write the files; the numbers in their names have equal lengths."""
    directory.mkdir(exist_ok=True)
    digits = len(str(len(ranks)))
    for number, rank in enumerate(ranks):
        (directory / f"pmpi-trace-rank-{number:0{digits}}.txt").write_text(rank.end())
    return directory


def example(ranks: int = 4) -> list[AllprofRank]:
    """A program with most kinds of calls."""
    found = [AllprofRank(rank, ranks) for rank in range(ranks)]
    for rank, one in enumerate(found):
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        one.call("Comm_rank", one.world, 140)
        one.call("Isend", 1, 10, DOUBLE, right, 5, one.world, 8000)
        one.call("Irecv", 1, 20, DOUBLE, -2, -1, one.world, 8008)
        one.call("Waitall", 2, 8000, 9000, after=100)
        one.call("Sendrecv", 1, 3, INT, right, 7, 2, 3, INT, left, 7, one.world, 900)
        one.call("Allreduce", 1, 2, 4, DOUBLE, 3, one.world)
        one.call("Comm_split", one.world, rank % 2, -rank, 5000)
        half = f"{2000 + rank},{(ranks - 1 - rank) // 2},{ranks // 2}"
        one.call("Bcast", 1, 100, BYTE, 0, half)
        counts = ",".join(str(each + 1) for each in range(ranks))
        one.call("Allgatherv", 1, rank + 1, DOUBLE, 2, 300, counts, 400, counts, DOUBLE, one.world)
        one.call("Gatherv", 1, rank + 1, INT, 2, 300, counts, 400, counts, INT, 1, one.world)
        one.call("Alltoallv", 1, 3, counts, 4, counts, INT, 2, 5, counts, 6, counts, INT, one.world)
        one.call("Reduce_scatter", 1, 2, 3, counts, DOUBLE, 3, one.world)
        one.call("Scatter", 1, 2, INT, 2, 2, INT, 0, one.world)
        one.call("Iprobe", -2, -1, one.world, 30, 40, after=10)
        one.call("Win_fence", 0, 77)
        one.call("Barrier", one.world, after=50)
    return found
