"""One rank switches its garbage collector off."""

import gc

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 1:
    gc.disable()
comm.Barrier()
print(rank, gc.isenabled())
