"""Gather and scatter, with remainders."""

import numpy as np
from mpi4py import MPI


def squares(comm, numbers, n):
    """Return how many numbers this rank has squared, and all squares (None except on rank 0)."""
    rank, size = comm.Get_rank(), comm.Get_size()
    counts = [n // size + (i < n % size) for i in range(size)]
    mine = np.empty(counts[rank])
    comm.Scatterv([numbers, counts, MPI.DOUBLE] if rank == 0 else None, mine, root=0)
    mine = mine**2
    result = np.zeros(n) if rank == 0 else None
    comm.Gatherv(mine, [result, counts, MPI.DOUBLE] if rank == 0 else None, root=0)
    return counts[rank], result


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), *squares(world, np.arange(10.0) if world.Get_rank() == 0 else None, 10))
