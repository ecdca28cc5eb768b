"""Tree against chain."""

import numpy as np
from mpi4py import MPI


def tree(comm, array):
    """Return rank 0's array on every rank; other ranks have an array of the same size to receive into."""
    rank, size = comm.Get_rank(), comm.Get_size()
    reach = 1  # ranks below this have it
    while reach < size:
        if rank < reach and rank + reach < size:
            comm.Send(array, dest=rank + reach)
        elif reach <= rank < 2 * reach:
            comm.Recv(array, source=rank - reach)
        reach *= 2
    return array


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    numbers = np.arange(1000.0) if world.Get_rank() == 0 else np.zeros(1000)
    start = MPI.Wtime()
    print(world.Get_rank(), tree(world, numbers).sum(), f"after {(MPI.Wtime() - start) * 1e6:.0f} us")
