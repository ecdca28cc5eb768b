"""Splits at scale: wall-clock time, messages and memory of bitonic and hash, each in a separate process.

    python benchmarks/split_at_scale.py             65,536 ranks
    python benchmarks/split_at_scale.py --dawn      the same with the preset of a Blue Gene/P, whose nodes share a port
    python benchmarks/split_at_scale.py --million   hash, 1,048,576 ranks into 4 groups: more than half an hour, 16 GiB

One rank counts its messages and reports progress on standard error: in one line on a terminal, otherwise in a new line
every 15 s.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from time import perf_counter, process_time
from typing import Any

import collectives
import fakempi
from fakempi import Hockney, presets

RANKS = 65_536
GROUPS = 4
CASES = {
    "bitonic": ("bitonic", RANKS, "by rank mod 4, in reverse order"),
    "hash": ("hash", RANKS, "by rank mod 4"),
    "million": ("hash", 1 << 20, "by rank mod 4"),
}


class Counted:
    """A communicator that counts the messages of one rank and reports the count."""

    def __init__(self, comm: Any, report: Any) -> None:
        self.comm, self.report, self.count = comm, report, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.comm, name)

    def Sendrecv(self, *arguments: Any) -> None:
        """Count the call and forward it to the communicator."""
        self.count += 1
        self.report(self.count)
        self.comm.Sendrecv(*arguments)


class Progress:
    """A progress line."""

    def __init__(self, name: str, ranks: int) -> None:
        self.name, self.ranks, self.start, self.reported = name, ranks, perf_counter(), 0.0
        depth = (ranks - 1).bit_length()
        # All ranks progress at the same rate. The number of rounds of hash is known only at the end.
        self.total = depth * (depth + 1) // 2 + 4 * depth + 3 if name == "bitonic" else None
        self.live = sys.stderr.isatty()

    def __call__(self, count: int) -> None:
        seconds = perf_counter() - self.start
        if seconds - self.reported < (0.2 if self.live else 15):
            return
        self.reported = seconds
        share = f" ({count / self.total:.0%})" if self.total else ""
        so_far = f"{count} messages each{share}, about {count * self.ranks / 1e6:.1f} million in total"
        line = f"{self.name}, {self.ranks:,} ranks: {so_far}, {seconds:.0f} s"
        print(f"\r\x1b[K{line[:79]}" if self.live else line, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def over(self) -> None:
        """Erase the line."""
        if self.live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def measure(case: str, dawn: bool) -> dict[str, float]:
    """Seconds, messages, modeled time and resident memory of a case."""
    name, ranks, _ = CASES[case]
    algorithm = collectives.find("split", name, kind="split")
    progress = Progress(name, ranks)
    options = {"widths": (0, 0)} if name == "bitonic" else {}

    def program(comm: Any) -> tuple[int, int]:
        rank = comm.Get_rank()
        group = Counted(comm, progress) if rank == comm.Get_size() // 2 else comm
        chain = algorithm.run(group, rank % GROUPS, -rank if name == "bitonic" else None, **options)
        return chain.rank, chain.size

    cost = presets.dawn() if dawn else Hockney(t_s=3e-6, t_w=1 / 425e6)
    fakempi.run(program, 8, cost=cost)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    progress.start, cpu = perf_counter(), process_time()
    run = fakempi.run(program, ranks, cost=cost)
    seconds, cpu = perf_counter() - progress.start, process_time() - cpu
    progress.over()
    share = ranks // GROUPS
    for rank, view in enumerate(run.returns):
        assert view == (share - 1 - rank // GROUPS if name == "bitonic" else rank // GROUPS, share)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds, "cpu": cpu, "messages": run.messages, "time": float(run.time),
        "KB": (peak - before) / ranks, "GiB": peak / 2**20,
    }  # fmt: skip


def main() -> None:
    """Run the cases and print a table."""
    parser = argparse.ArgumentParser(description="Splits at scale.")
    parser.add_argument("--million", action="store_true", help="1,048,576 ranks, by hash")
    parser.add_argument("--dawn", action="store_true", help="use the preset of Dawn, nodes of 4 ranks")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(measure(options.case, options.dawn)))
        return
    print(f"{'split':8} {'ranks':>9} {'seconds':>8} {'CPU s':>7} {'messages':>11} {'per s':>9} "
          f"{'CPU us each':>11} {'KB/rank':>8} {'GiB':>5} {'modeled':>10}")  # fmt: skip
    for case in ["million"] if options.million else ["bitonic", "hash"]:
        command = [sys.executable, __file__, "--case", case, *(["--dawn"] if options.dawn else [])]
        row = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        name, ranks, _ = CASES[case]
        count = row["messages"]
        print(
            f"{name:8} {ranks:9,} {row['seconds']:8.1f} {row['cpu']:7.1f} {count:11,} {count / row['seconds']:9,.0f} "
            f"{row['cpu'] / count * 1e6:11.1f} {row['KB']:8.1f} {row['GiB']:5.2f} {row['time'] * 1e6:7.0f} us",
            flush=True,
        )


if __name__ == "__main__":
    main()
