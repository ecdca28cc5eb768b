"""Each rank writes its block of a file, and rank 0 reads it."""

import os
import tempfile

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

name = comm.bcast(os.path.join(tempfile.gettempdir(), f"idiom-{os.getpid()}") if rank == 0 else None)
file = MPI.File.Open(comm, name, MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_at_all(rank * 4, np.array([rank], "i"))
file.Close()
if rank == 0:
    print(np.fromfile(name, "i"))
    os.remove(name)
