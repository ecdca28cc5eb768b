"""What a spawned worker runs: it serves whoever has spawned it."""

from __future__ import annotations

from fakempi import MPI
from fakempi.mpi4py.futures.worker import serve


def main() -> None:
    """What `-m mpi4py.futures.server` does."""
    parent = MPI.Comm.Get_parent()
    if parent == MPI.COMM_NULL:
        raise SystemExit("mpi4py.futures.server: nobody has spawned this worker, and services are not emulated.")
    serve(parent, MPI.COMM_WORLD)


if __name__ == "__main__":
    main()
