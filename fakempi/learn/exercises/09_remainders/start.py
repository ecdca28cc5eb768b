"""Gather and scatter, with remainders.

`Scatter` deals equal blocks of rank 0's array to everybody, `Gather` collects
them again. Real data do not divide by the number of ranks. For blocks of
different sizes there are `Scatterv` and `Gatherv`: rank 0 says how many
elements each rank has, and the others only need to know their own.

    comm.Scatterv([numbers, counts, MPI.DOUBLE], mine, root=0)
    comm.Gatherv(mine, [numbers, counts, MPI.DOUBLE], root=0)

Where only one rank needs something, the others hand over None.

Your task: rank 0 has n numbers. Deal them as evenly as possible, the first n
mod p ranks get one more; every rank squares its block; collect the squares on
rank 0. All ranks know n. The program below loses the remainder.

See it run:  fakempi run -n 3 09_remainders.py
"""

import numpy as np
from mpi4py import MPI


def squares(comm, numbers, n):
    """How many numbers this rank has squared, and on rank 0 all squares, elsewhere None."""
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
