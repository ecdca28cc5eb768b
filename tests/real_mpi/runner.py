"""Runs all programs under mpiexec and prints, as JSON, the results of each rank. Not a test itself.

`PYTHONPATH=. mpiexec -n 3 python tests/real_mpi/runner.py` runs them in one start. A program that raises returns its error
as a string.
"""

from __future__ import annotations

from typing import Any

from tests.real_mpi import file_programs, window_programs  # noqa: F401  which add their programs to the table
from tests.real_mpi.processes import answer, through_json
from tests.real_mpi.programs import PROGRAMS


def results(MPI: Any, world: Any) -> dict[str, Any]:
    """The results of every program on this rank, each on a separate communicator."""
    found = {}
    for name, program in PROGRAMS.items():
        comm = world.Dup()
        try:
            found[name] = through_json(program(comm, MPI))
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
        comm.Free()
    return found


if __name__ == "__main__":
    answer(results)
