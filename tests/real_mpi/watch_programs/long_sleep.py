"""One rank sleeps, the others wait."""

import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 1:
    time.sleep(1000)
comm.Barrier()
