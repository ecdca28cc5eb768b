"""A seed for each rank."""

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

np.random.seed(rank)
comm.Barrier()
first = np.random.rand()
comm.Barrier()
print(rank, np.random.RandomState(rank).rand(2).tolist() == [first, np.random.rand()])
