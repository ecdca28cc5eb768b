"""Every rank tests the examples of the script."""

import doctest

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def double(x):
    """
    >>> double(4)
    8
    """
    return x * 2


print(rank, doctest.testmod())
