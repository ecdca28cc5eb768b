"""Run a program in which every rank sends before it receives. It ends only if sends are buffered, which MPI leaves open.

    python demos/03_unsafe_send.py

A program that relies on buffering works on one machine, or with small messages, and deadlocks on another. In fakempi
buffering is a parameter of the cost model, `eager_limit`: the same program runs without buffering, with the limit of most
MPI libraries, and with unlimited buffering. The last part does the same to a whole test suite; it needs pytest.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from screen import arguments

import fakempi
from fakempi import Hockney

BUFFERINGS = {"zero": 0, "eager": 65536, "infinite": 1 << 62}  # bytes: longer sends wait for their receive


def unsafe(comm, count):
    """Send to the right, then receive from the left."""
    mine, other = np.full(count, float(comm.rank)), np.empty(count)
    comm.Send(mine, dest=(comm.rank + 1) % comm.size)
    comm.Recv(other, source=(comm.rank - 1) % comm.size)


def safe(comm, count):
    """The same in one call, which needs no buffer."""
    mine, other = np.full(count, float(comm.rank)), np.empty(count)
    comm.Sendrecv(mine, dest=(comm.rank + 1) % comm.size, recvbuf=other, source=(comm.rank - 1) % comm.size)


SUITE = """\
import pytest

@pytest.mark.mpi(ranks=[2, 64])
def test_every_rank_receives_from_the_left(comm):
    comm.send(comm.rank, dest=(comm.rank + 1) % comm.size)
    assert comm.recv() == (comm.rank - 1) % comm.size
"""


def main():
    reports = {}
    print("16 ranks, buffering:".ljust(45) + "".join(f"{name:<11}" for name in BUFFERINGS).rstrip())
    for program, words in ((unsafe, "Send, then Recv"), (safe, "Sendrecv")):
        for count in (1_000, 10_000):
            cells = []
            for limit in BUFFERINGS.values():
                try:
                    fakempi.run(program, 16, count, cost=Hockney(eager_limit=limit))
                    cells.append("passes")
                except fakempi.DeadlockError as deadlock:
                    cells.append("DEADLOCK")
                    reports[count, limit] = deadlock
            print(f"{words:<16} of {8 * count:>6,} bytes" + " " * 11 + "".join(f"  {cell:<9}" for cell in cells).rstrip())
    print(f"\nThe report for {8 * 10_000:,} bytes with eager buffering, as in most MPI libraries:")
    print(reports[10_000, BUFFERINGS["eager"]])
    if find_spec("pytest") is None:
        sys.exit("\nThe last part runs a test suite, which needs pytest: python -m pip install pytest")
    print("\nA test that relies on buffering passes until one option turns buffering off for all tests:\n")
    print(SUITE)
    for name in ("eager", "zero"):
        print(f"$ pytest --mpi-buffering={name}")
        print(*outcomes(name), sep="\n")


def outcomes(buffering):
    """The line of pytest's summary for each test."""
    with TemporaryDirectory() as directory:
        Path(directory, "test_left.py").write_text(SUITE)
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", "-p", "fakempi.apps.pytest_plugin", f"--mpi-buffering={buffering}"],
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # load this plugin by name and no others
            cwd=directory, capture_output=True, text=True, check=False,
        )  # fmt: skip
    return re.findall(r"^(?:PASSED|FAILED|ERROR).*?(?= - |$)", ended.stdout, re.MULTILINE) or [ended.stderr]


if __name__ == "__main__":
    arguments(__doc__)
    main()
