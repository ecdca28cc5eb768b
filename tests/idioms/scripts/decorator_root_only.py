"""A decorator that calls a function on rank 0 and broadcasts its result."""

import functools

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def root_only(function):
    @functools.wraps(function)
    def wrapper(*args):
        return comm.bcast(function(*args) if rank == 0 else None)

    return wrapper


@root_only
def read(number):
    print("called on", rank)
    return number * 2


print(rank, read(21))
