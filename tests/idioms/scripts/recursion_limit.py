"""One rank raises its recursion limit."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 0:
    sys.setrecursionlimit(3456)
comm.Barrier()
print(rank, sys.getrecursionlimit() == 3456)
