"""The generators of the standard library are separate."""

import random

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

random.seed(rank)
comm.Barrier()
value = random.random()
print(rank, value == random.Random(rank).random())
