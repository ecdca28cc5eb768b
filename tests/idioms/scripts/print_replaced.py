"""All ranks other than 0 replace `builtins.print`."""

import builtins

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank != 0:
    builtins.print = lambda *args, **kwargs: None
comm.Barrier()
print("hello from", rank)
