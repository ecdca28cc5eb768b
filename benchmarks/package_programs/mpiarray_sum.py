"""mpiarray: a distributed array: ufuncs, sums, gather."""

import mpiarray
import numpy as np
from mpi4py import MPI

array = mpiarray.array(np.arange(24.0).reshape(6, 4))
total, everything = (array * 2 + 1).sum(), (array * 2).gather()
if MPI.COMM_WORLD.rank == 0:
    print(float(total), everything.sum(axis=0).tolist())
