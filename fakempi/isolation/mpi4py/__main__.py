"""`-m mpi4py`, the same as `-m mpi4py.run`."""

from __future__ import annotations

from fakempi.isolation.mpi4py.run import main

if __name__ == "__main__":
    main()
