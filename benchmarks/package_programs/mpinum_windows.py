"""mpinum: a distributed array with ghost cells, read with one-sided gets."""

import numpy as np
from mpi4py import MPI
from mpinum import gdaZeros

comm = MPI.COMM_WORLD
array = gdaZeros((4, 3), np.float64, numGhosts=1)
array[:] = comm.rank
left = array.getData((comm.rank - 1) % comm.size, (-1, 0))
found = comm.allgather(float(np.sum(left)))
array.free()
if comm.rank == 0:
    print(found)
