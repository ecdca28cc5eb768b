"""`print` that flushes, by functools.partial."""

import functools

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

print = functools.partial(print, f"[{rank}]", flush=True)
print("hello")
