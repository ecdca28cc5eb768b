"""All ranks agree on a failure of one."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

error = None
try:
    if rank == 1:
        raise OSError("disk full")
except OSError as caught:
    error = caught
errors = [each for each in comm.allgather(error) if each]
if errors:
    print(rank, type(errors[0]).__name__, errors[0])
    sys.exit(3)
