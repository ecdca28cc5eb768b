"""Rows of a matrix: scatter, local work, gather."""

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

matrix = np.arange(12.0).reshape(size * 2, -1) if rank == 0 else None
rows = np.empty((2, 12 // (size * 2)))
comm.Scatter(matrix, rows)
sums = comm.gather(rows.sum(axis=1).tolist())
if rank == 0:
    print(sums)
