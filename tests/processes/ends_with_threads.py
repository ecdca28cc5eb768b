"""Programs that end while their daemon threads sleep, log, call MPI or wait in a call: each ends as the program does.

    python -m tests.processes.ends_with_threads [NUMBER] [SEED]

runs programs with random threads and ends, each rank in a process, and prints those with another outcome.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.processes.harness import observe

HEAD = """\
import io, logging, os, signal, sys, threading, time
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
others, waited = comm.Dup(), comm.Dup()
log = logging.getLogger("work")
log.addHandler(logging.StreamHandler(io.StringIO()))

def repeat(function):
    def body():
        while True:
            function()
    return body

def start(body):
    threading.Thread(target=body, daemon=True).start()

def wait_in_a_call():
    ready.set()
    waited.recv(source=size - 1)

ready = threading.Event()
"""

THREADS = {
    "sleeps": "start(repeat(lambda: time.sleep(0.0005)))",
    "waits": "start(repeat(lambda: threading.Event().wait(0.0005)))",
    "logs": "start(repeat(lambda: (log.warning('line'), time.sleep(0.0001))))",
    "probes": "start(repeat(lambda: others.Iprobe()))",
    "sends": "start(repeat(lambda: others.sendrecv(b'x' * 10000, others.rank, source=others.rank)))",
    "reduces": "start(repeat(lambda: MPI.COMM_SELF.Allreduce(np.zeros(9), np.zeros(9))))",
    "computes": "start(repeat(lambda: sum(range(1000))))",
}
"""Threads that run from the start."""

WAITS = "start(wait_in_a_call)\nready.wait()"
"""A thread that never returns from its call. Afterwards, the main thread only calls Abort: one thread at a time can call."""

WORK = """\
for _ in range(3):
    comm.Barrier()
    comm.allreduce(np.ones(1000))
"""


class End(NamedTuple):
    """How rank 1 ends, while rank 0 ends or waits: its code, the exit codes, and the beginning of the error."""

    code: str
    codes: dict[int, int]
    error: str = ""
    other_waits: bool = True


ENDS = {
    "returns": End("", {0: 0, 1: 0}, other_waits=False),
    "exits": End("sys.exit(3)", {0: 0, 1: 3}, other_waits=False),
    "fails": End("raise ValueError('of the program')", {}, "RankError: rank 1 failed with ValueError: of the program"),
    "is interrupted": End("signal.raise_signal(signal.SIGINT)", {}, "KeyboardInterrupt"),
    "is killed": End("os.kill(os.getpid(), signal.SIGKILL)", {}, "RankError: rank 1 failed with Killed: its process"),
    "crashes": End("os.abort()", {}, "RankError: rank 1 failed with Killed: its process was killed by signal 6"),
    "aborts": End("comm.Abort(7)", {}, "RankError: rank 1 failed with Aborted: Abort(7) was called"),
    "calls os._exit": End("os._exit(4)", {}, "RankError: rank 1 failed with ExitWithoutFinalize"),
}


def program(threads: list[str], waits: bool, end: End) -> str:
    """Return the text of a program."""
    lines = [HEAD, *(THREADS[name] for name in threads), WORK]
    lines += [WAITS] if waits else []
    lines += [f"if rank == 1:\n    {end.code}"] if end.code else []
    lines += ["if rank == 0:\n    comm.recv()"] if end.other_waits and not waits else []
    return "\n".join([*lines, "print('end of', rank)", ""])


def problem(directory: Path, threads: list[str], waits: bool, end: End) -> str:
    """Run a program; return its difference from the expected outcome, or an empty text."""
    path = directory / "work.py"
    path.write_text(program(threads, waits, end), encoding="utf-8")
    try:
        found = observe([str(path)], 2, True, timeout=60)
    except KeyboardInterrupt:
        return "" if end.error == "KeyboardInterrupt" else "KeyboardInterrupt"
    head = "fakempi: a daemon thread ends with its rank, in the middle of a call."
    lines = [line for line in found.err.splitlines() if line != head and not line.startswith("  rank ")]
    printed = sorted(found.out.splitlines())
    if not found.error.startswith(end.error) or bool(found.error) != bool(end.error):
        return f"the error is {found.error or 'missing'}"
    if not end.error and found.codes != end.codes:
        return f"the exit codes are {found.codes}"
    if lines:
        return f"the error output is {found.err}"
    if not end.error and printed != ["end of 0", "end of 1"][: 1 if end.code else 2]:
        return f"the output is {found.out}"
    return ""


def main(number: int = 200, seed: int = 0) -> int:
    """Run programs; return the number of those with another outcome."""
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for index in range(number):
            draw = Random(f"{seed}:{index}")
            threads = draw.sample(sorted(THREADS), draw.randint(0, 3))
            waits, name = draw.random() < 0.4 or not threads, draw.choice(sorted(ENDS))
            found = problem(Path(directory), threads, waits, ENDS[name])
            if found:
                wrong += 1
                waiting = ", one waits in a call" if waits else ""
                sys.stdout.write(f"{index}: threads: {', '.join(threads)}{waiting}; rank 1 {name}: {found}\n")
    sys.stdout.write(f"{number} programs, {wrong} with another outcome\n")
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
