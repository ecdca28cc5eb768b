"""`sys.exit` with text: printed on standard error, exit status 1."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

comm.Barrier()
print("before")
sys.exit(f"error on rank {rank}")
