"""A split that scales."""

import numpy as np
from mpi4py import MPI


def place(comm, color, colors):
    """Return this rank's position among the ranks of its color, and the number of those."""
    table, before, total = (np.zeros(colors, np.int64) for _ in range(3))
    table[color] = 1
    comm.Exscan(table, before)
    comm.Allreduce(table, total)
    return int(before[color]), int(total[color])


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    color = world.Get_rank() % 3
    print(world.Get_rank(), "color", color, "place", place(world, color, 3))
