"""A rank adds to the path of modules."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 0:
    sys.path.insert(0, "/only/rank/0")
comm.Barrier()
print(rank, "/only/rank/0" in sys.path)
