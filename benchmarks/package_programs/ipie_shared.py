"""ipie's ranks on a node share an array, and scatter walkers."""

import numpy as np
from ipie.utils.mpi import MPIHandler, get_shared_array
from mpi4py import MPI

comm = MPI.COMM_WORLD
handler = MPIHandler()
shared = get_shared_array(comm, (2, 3), np.float64)
if comm.rank == 0:
    shared[:] = np.arange(6).reshape(2, 3)
comm.Barrier()
print(f"{comm.rank}: {handler.size} {handler.srank} {shared.tolist()}\n", end="", flush=True)
comm.Barrier()
