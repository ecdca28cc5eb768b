"""One rank changes how arrays are printed."""

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 1:
    np.set_printoptions(precision=2)
comm.Barrier()
print(rank, np.array([1 / 3]))
