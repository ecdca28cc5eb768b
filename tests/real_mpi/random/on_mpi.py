"""Run under mpiexec: runs the programs of a file on a real MPI; each rank writes a line of JSON per program.

mpiexec -n 3 python -m tests.real_mpi.random.on_mpi FAMILY PROGRAMS.json DIRECTORY

All ranks run on one core: a rank that waits yields it to the others. On two cores, barriers of three ranks took 2 ms
instead of 50 us, since a rank that is alone on its core waits for a rank that shares the other one.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def pin() -> None:
    """Put all ranks on one core, chosen by their common parent, and make a waiting rank yield it soon."""
    os.environ.setdefault("MPIR_CVAR_POLLS_BEFORE_YIELD", "10")
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[os.getppid() % len(cores)]})


def main(family: str, programs: str, directory: str) -> None:
    pin()
    from mpi4py import MPI

    from tests.real_mpi.processes import finish
    from tests.real_mpi.random.families import perform_all

    def write_all() -> int:
        todo = json.loads(Path(programs).read_text())
        with open(Path(directory) / f"{MPI.COMM_WORLD.Get_rank()}.jsonl", "w") as out:

            def report(seen: Any) -> None:
                out.write(json.dumps(seen) + "\n")
                out.flush()

            perform_all(MPI, MPI.COMM_WORLD, family, todo, report)
        return 0

    finish(write_all)


if __name__ == "__main__":
    main(*sys.argv[1:])
