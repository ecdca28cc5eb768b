"""Rank 0 starts a program and broadcasts its output."""

import subprocess
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

out = None
if rank == 0:
    out = subprocess.check_output([sys.executable, "-c", "print('from a child')"], text=True)
print(rank, comm.bcast(out).strip())
