"""Ctrl-C at a random time of an endless program, which runs in a separate process because the signal comes from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

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


def interrupted(seed: int, backend: Any, directory: Path) -> tuple[int, str]:
    """The exit code and the output of an interrupted run."""
    random = Random(seed)
    (directory / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = ["run", "-n", str(random.randint(1, 5)), "--backend", backend, "--quiet", "program.py", str(seed)]
    handler = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # background jobs ignore the signal
    patience = "import fakempi.apps.cli.interrupts as module; module.GRACE_PERIOD = 60"  # the machine may be busy
    start = f"{handler}; {patience}; from fakempi.apps.cli import main; import sys; sys.exit(main({command!r}))"
    child = subprocess.Popen(
        [sys.executable, "-c", start], cwd=directory, env={**os.environ, "PYTHONPATH": str(ROOT)},
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
