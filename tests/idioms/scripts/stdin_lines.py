"""Rank 0 reads all lines."""
# stdin: 1 2\n3\n

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

text = sys.stdin.read() if rank == 0 else None
print(rank, comm.bcast(text).split())
