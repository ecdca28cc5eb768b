"""Rank 0 creates a directory, all ranks write to it, and rank 0 removes it."""

import os
import shutil
import tempfile

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

top = comm.bcast(tempfile.mkdtemp(prefix="idiom") if rank == 0 else None)
with open(os.path.join(top, f"{rank}.txt"), "w") as file:
    file.write("x" * (rank + 1))
comm.Barrier()
if rank == 0:
    print([os.path.getsize(os.path.join(top, name)) for name in sorted(os.listdir(top))])
    shutil.rmtree(top)
