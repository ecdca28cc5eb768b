"""Readers of recordings: CPU time and memory for a million events of each format.

    python benchmarks/read_recordings.py [EVENTS]

Four ranks make the same calls: a nonblocking send and receive, the wait for both, and a sum of 32 bytes. The writers of the
tests write the files. Each format is read in a separate process.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

ROOT = Path(__file__).resolve().parents[1]
RANKS = 4


def write_allprof(directory: Path, rounds: int) -> None:
    """Write a trace of liballprof."""
    from tests.recordings.allprof_traces import DOUBLE, AllprofRank, write

    ranks = [AllprofRank(rank, RANKS) for rank in range(RANKS)]
    for rank, one in enumerate(ranks):
        parts = []
        for _ in range(rounds):
            one.text = ""
            one.call("Isend", 1, 10, DOUBLE, (rank + 1) % RANKS, 5, one.world, 8000)
            one.call("Irecv", 1, 10, DOUBLE, (rank - 1) % RANKS, 5, one.world, 8008)
            one.call("Waitall", 2, 8000, 9000)
            one.call("Allreduce", 1, 2, 4, DOUBLE, 3, one.world)
            parts.append(one.text)
        one.text = AllprofRank(rank, RANKS).text + "".join(parts)
    write(directory, ranks)


def write_dumpi(directory: Path, rounds: int) -> None:
    """Write a DUMPI trace."""
    from tests.recordings.dumpi_traces import DOUBLE, SUM, WORLD, DumpiRank, write

    ranks = [DumpiRank() for _ in range(RANKS)]
    for rank, one in enumerate(ranks):
        parts = [one.data]
        for _ in range(rounds):
            one.data = b""
            one.time = 1.0
            one.call("Isend", "ihiihi", 10, DOUBLE, (rank + 1) % RANKS, 5, WORLD, 2)
            one.call("Irecv", "ihiihi", 10, DOUBLE, (rank - 1) % RANKS, 5, WORLD, 3)
            one.call("Waitall", "iAS", 2, [2, 3], [(0, -1, -1), (80, (rank - 1) % RANKS, 5)])
            one.call("Allreduce", "ihbh", 4, DOUBLE, SUM, WORLD)
            parts.append(one.data)
        one.data = b"".join(parts)
    write(directory, ranks)


def write_recorded(directory: Path, rounds: int) -> None:
    """Write the files of our recorder."""
    from tests.recordings.test_recorded import write

    texts = []
    for rank in range(RANKS):
        lines = ["site 1 work.py:12"]
        for number in range(0, 2 * rounds, 2):
            lines.append(f"send 8100 950 1 S 0 {(rank + 1) % RANKS} 5 80 {number}")
            lines.append(f"recv 120 950 1 0 {(rank - 1) % RANKS} 5 80 {number + 1}")
            lines.append(f"wait 50 1200 1 {number} {number + 1}")
            lines.append("coll 10 4000 1 allreduce 0 0 32 8 c - -")
        texts.append("\n".join([*lines, "end 10 completed"]))
    write(directory, texts)


WRITERS = {"allprof": write_allprof, "dumpi": write_dumpi, "recorded": write_recorded}


def measure(directory: str) -> None:
    """Print events, CPU seconds, memory of the events, and how much the process grew, in MB."""
    from fakempi.recordings.reading import read

    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()
    recording = read(directory)
    seconds = process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{len(recording):10,} events  {seconds:6.1f} s  {recording.nbytes / 2**20:6.0f} MB of events  {grown:6.0f} MB more"
    )


def main(events: int) -> None:
    """Write each format, and measure its reader."""
    for name, write in WRITERS.items():
        with TemporaryDirectory() as scratch:
            directory = Path(scratch) / "trace"
            write(directory, events // (4 * RANKS))
            size = sum(path.stat().st_size for path in directory.iterdir()) / 2**20
            command = [sys.executable, __file__, "--read", str(directory)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            print(f"{name:10}{size:6.0f} MB of files {done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    if sys.argv[1:2] == ["--read"]:
        measure(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
