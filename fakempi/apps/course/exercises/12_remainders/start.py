"""Gather and scatter, with remainders.

`Scatter` sends equal blocks of rank 0's array to all ranks, `Gather` collects
them again. Usually the size of the data is not a multiple of the number of
ranks. `Scatterv` and `Gatherv` take blocks of different sizes: rank 0 passes
the number of elements of each rank, and the other ranks only need their own.

    comm.Scatterv([numbers, counts, MPI.DOUBLE], mine, root=0)
    comm.Gatherv(mine, [numbers, counts, MPI.DOUBLE], root=0)

An argument that only rank 0 needs is None on the other ranks.

Your task: rank 0 has n numbers. Distribute them as evenly as possible: the
first n mod p ranks get one more. Every rank squares its block; collect the
squares on rank 0. All ranks know n. The program below drops the remainder.

See it run:  fakempi run -n 3 12_remainders.py
"""

import numpy as np
from mpi4py import MPI


def squares(comm, numbers, n):
    """Return how many numbers this rank has squared, and all squares (None except on rank 0)."""
    rank, size = comm.Get_rank(), comm.Get_size()
    count = n // size
    mine = np.empty(count)
    comm.Scatter(numbers[: count * size] if rank == 0 else None, mine, root=0)
    mine = mine**2
    result = np.zeros(n) if rank == 0 else None
    comm.Gather(mine, result[: count * size] if rank == 0 else None, root=0)
    return count, result


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), *squares(world, np.arange(10.0) if world.Get_rank() == 0 else None, 10))
