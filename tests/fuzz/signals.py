"""Ctrl-C at a random moment of a program that goes on for ever: a process of its own, since it is ended from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import sleep

ROOT = Path(__file__).parents[2]

PROGRAM = """
import random, sys, threading
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
together = random.Random(int(sys.argv[1]))  # what all ranks draw alike
swallows = together.random() < 0.5

def step(kind):
    if kind == "barrier":
        comm.Barrier()
    elif kind == "exchange":
        comm.sendrecv(bytes(together.choice([0, 100_000])), (rank + 1) % size, source=(rank - 1) % size)
    elif kind == "poll":
        for _ in range(20):
            comm.Iprobe()
    elif kind == "thread":
        thread = threading.Thread(target=comm.Iprobe)
        thread.start()
        thread.join()
    elif kind == "compute":
        sum(range(10_000))
    else:
        comm.iallreduce(rank).wait() if hasattr(comm, "iallreduce") else comm.allreduce(rank)

print("ready", flush=True)
while True:
    kind = together.choice(["barrier", "exchange", "poll", "thread", "compute", "reduce"])
    try:
        step(kind)
    except BaseException:
        if not swallows:
            raise
"""


def interrupted(seed: int, carrier: str, folder: Path) -> tuple[int, str]:
    """The exit code of a run that was interrupted, and what it said."""
    random = Random(seed)
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = ["run", "-n", str(random.randint(1, 5)), "--carrier", carrier, "--quiet", "program.py", str(seed)]
    handler = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # which a background job has not
    patience = "import fakempi.cli.watching as watching; watching.PATIENCE = 60"  # the machine may be busy
    start = f"{handler}; {patience}; from fakempi.cli import main; import sys; sys.exit(main({command!r}))"
    child = subprocess.Popen(
        [sys.executable, "-c", start], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        sleep(random.random() / 2)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=120)
    finally:
        child.kill()
    return child.returncode, said
