"""A collective call at exit: mpi4py finalizes after functions that were registered later."""

import atexit

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

@atexit.register
def summary():
    total = comm.reduce(rank)
    if rank == 0:
        print("sum of ranks", total, MPI.Is_finalized())
