"""numpy memmap written by all ranks."""

import os
import tempfile
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
n = 4
name = None
if comm.rank == 0:
    fd, name = tempfile.mkstemp()
    os.close(fd)
    np.memmap(name, dtype="f8", mode="w+", shape=(comm.size, n)).flush()
name = comm.bcast(name)
m = np.memmap(name, dtype="f8", mode="r+", shape=(comm.size, n))
m[comm.rank] = comm.rank
m.flush()
comm.Barrier()
print(np.array(m).sum())
comm.Barrier()
if comm.rank == 0:
    os.remove(name)
