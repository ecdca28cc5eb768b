"""A member of an enumeration is the same object after a broadcast."""

import enum

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


mode = comm.bcast(Mode.SLOW if rank == 0 else None)
print(rank, mode is Mode.SLOW, comm.allgather(mode) == [Mode.SLOW] * size)
