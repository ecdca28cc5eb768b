"""Ranks that have no work leave early; the others go on with a smaller communicator."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

workers = comm.Split(0 if rank < 2 else MPI.UNDEFINED)
if workers == MPI.COMM_NULL:
    print(rank, "has no work")
    sys.exit()
print(rank, "of", workers.Get_size())
