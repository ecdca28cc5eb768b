"""The program of a spawned worker, which executes tasks of its parent."""

from __future__ import annotations

from fakempi import MPI
from fakempi.isolation.mpi4py.futures.worker import serve


def main() -> None:
    """Run `-m mpi4py.futures.server`."""
    parent = MPI.Comm.Get_parent()
    if parent == MPI.COMM_NULL:
        raise SystemExit("mpi4py.futures.server: this worker has no parent, and services are not emulated.")
    serve(parent, MPI.COMM_WORLD)


if __name__ == "__main__":
    main()
