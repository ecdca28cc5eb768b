"""Compute pi by numerical integration; every rank takes every size-th strip. An ordinary mpi4py program."""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

strips = comm.bcast(int(sys.argv[1]) if rank == 0 else None, root=0)
x = (np.arange(rank, strips, size) + 0.5) / strips
mine = np.array(np.sum(4 / (1 + x * x)) / strips)
pi = np.empty(())
comm.Reduce(mine, pi, op=MPI.SUM, root=0)

share = comm.gather(len(x), root=0)
if rank == 0:
    print(f"{size} ranks took {min(share)} to {max(share)} strips each: pi is {pi:.9f}, {abs(pi - np.pi):.0e} off")
