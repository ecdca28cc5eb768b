"""quimb computes the trace of a matrix in a pool of MPI ranks."""

import os

os.environ["_QUIMB_MPI_LAUNCHED"] = "True"  # as the command quimb-mpi-python does

import quimb
from quimb.linalg.mpi_launcher import get_mpi_pool

if __name__ == "__main__":
    pool = get_mpi_pool()
    print(sorted(future.result() for future in [pool.submit(pow, n, 2) for n in range(5)]), quimb.trace(quimb.eye(3)))
