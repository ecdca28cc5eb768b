"""Unequal parts of an array with Scatterv."""

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

counts = [n + 1 for n in range(size)]
data = np.arange(sum(counts), dtype="d") if rank == 0 else None
mine = np.empty(counts[rank])
comm.Scatterv([data, counts] if rank == 0 else None, mine)
print(rank, mine)
