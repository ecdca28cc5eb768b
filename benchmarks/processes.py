"""Cost of ranks as processes: time per call, start-up per rank, and memory, compared with ranks of one process.

    python benchmarks/processes.py [ranks]

A pair is a Send of one rank and the matching Recv of another. The first line is the least that the processes of a pair need:
two messages to the parent and their answers, without MPI. Start-up is that of a program that imports numpy. On a machine
that does other work, the wall times mean little, and the CPU times contain the cost of switches between processes.
"""

from __future__ import annotations

import os
import resource
import select
import sys
import tempfile
import time
from pathlib import Path

import fakempi
from fakempi.isolation import Program
from fakempi.processes.program import ProcessProgram

PAIRS = """
from mpi4py import MPI
import numpy as np
comm = MPI.COMM_WORLD
data = np.zeros({count})
for _ in range({rounds}):
    if comm.rank == 0:
        comm.Send(data, 1)
    elif comm.rank == 1:
        comm.Recv(data, 0)
"""

START = "import numpy\nfrom mpi4py import MPI\nMPI.COMM_WORLD.Barrier()\n"


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measure(made: Program, ranks: int) -> tuple[float, float]:
    """Return wall time and CPU time of a run."""
    start, used = time.perf_counter(), cpu_seconds()
    fakempi.run(made, ranks)
    return time.perf_counter() - start, cpu_seconds() - used


def pair(directory: Path, processes: bool, count: int, rounds: int) -> tuple[float, float]:
    """Return wall time and CPU time per pair, in microseconds: the difference of a long and a short run."""
    found = []
    for number in (rounds // 10, rounds):
        script = directory / "pairs.py"
        script.write_text(PAIRS.format(count=count, rounds=number))
        command = [str(script)]
        found.append(measure(ProcessProgram(command) if processes else Program(command), 2))
    (short, short_cpu), (long, long_cpu) = found
    pairs = rounds - rounds // 10
    return 1e6 * (long - short) / pairs, 1e6 * (long_cpu - short_cpu) / pairs


def bare(rounds: int) -> tuple[float, float]:
    """Return wall time and CPU time of two messages and their answers over pipes, in microseconds.

    As in fakempi, a process writes a message and reads the answer; its parent waits by poll, reads and writes.
    """
    (calls, to_parent), (answers, to_child) = pipes = os.pipe(), os.pipe()
    start, used = time.perf_counter(), cpu_seconds()
    child = os.fork()
    if not child:
        for _ in range(2 * rounds):
            os.write(to_parent, bytes(90))  # a Send of 8 bytes
            os.read(answers, 4096)
        os._exit(0)
    poll = select.poll()
    poll.register(calls, select.POLLIN)
    for _ in range(2 * rounds):
        poll.poll(200)
        os.read(calls, 4096)
        os.write(to_child, bytes(14))
    os.waitpid(child, 0)
    found = 1e6 * (time.perf_counter() - start) / rounds, 1e6 * (cpu_seconds() - used) / rounds
    for fd in (fd for pipe in pipes for fd in pipe):
        os.close(fd)
    return found


def start_up(directory: Path, ranks: int) -> tuple[float, float]:
    """Return wall time and CPU time per rank of a program that imports numpy, in seconds."""
    script = directory / "start.py"
    script.write_text(START)
    wall, cpu = measure(ProcessProgram([str(script)]), ranks)
    return wall / ranks, cpu / ranks


if __name__ == "__main__":
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        measure(ProcessProgram(["-c", "from mpi4py import MPI"]), 1)  # makes the proxies
        print(f"{'Send and Recv':>28} {'us (wall)':>10} {'us (CPU)':>10}")
        wall, cpu = bare(10_000)
        print(f"{'two messages and answers':>28} {wall:10.1f} {cpu:10.1f}")
        for count in (1, 12_500, 125_000):
            for processes in (False, True):
                wall, cpu = pair(Path(name), processes, count, 2000 if count < 100_000 else 100)
                print(f"{8 * count:>9} bytes, {'processes' if processes else 'one process':>11} {wall:10.1f} {cpu:10.1f}")
        wall, cpu = start_up(Path(name), ranks)
        print(f"start-up at {ranks} ranks: {wall:.3f} s (wall) and {cpu:.3f} s (CPU) per rank")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"largest child: {largest / 1024:.0f} MB")
