"""One rank calls sys.exit."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 1:
    sys.exit(0)
comm.recv(source=1)
