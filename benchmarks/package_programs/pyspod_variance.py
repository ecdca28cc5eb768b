"""PySPOD distributes the points of a field over ranks, and computes its variance."""

import numpy as np
from mpi4py import MPI
from pyspod.utils.parallel import distribute, pvar

comm = MPI.COMM_WORLD
field = np.random.RandomState(2).rand(4, 9, 2)
part, size, shape = distribute(field, comm)
_, mean, variance = pvar(part.ravel(), comm)
print(f"{comm.rank}: {part.shape} {size} {tuple(shape)} {mean:.8f} {variance:.8f}\n", end="", flush=True)
