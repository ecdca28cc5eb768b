"""A function that runs at the end of every rank, in reverse order."""

import atexit

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

atexit.register(print, "first registered, last run, rank", rank)


@atexit.register
def goodbye():
    print("goodbye from", rank)


print("hello from", rank)
