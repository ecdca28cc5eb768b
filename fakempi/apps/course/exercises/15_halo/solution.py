"""A Cartesian halo exchange."""

import numpy as np
from mpi4py import MPI


def halo(comm, rows, columns, number):
    """Return the numbers of the four neighbors; -1 where there is none."""
    grid = comm.Create_cart([rows, columns], periods=[False, True])
    up, down = grid.Shift(0, 1)
    left, right = grid.Shift(1, 1)
    mine, around = np.array([number]), np.full(4, -1)
    grid.Sendrecv(mine, dest=down, recvbuf=around[0:1], source=up)
    grid.Sendrecv(mine, dest=up, recvbuf=around[1:2], source=down)
    grid.Sendrecv(mine, dest=right, recvbuf=around[2:3], source=left)
    grid.Sendrecv(mine, dest=left, recvbuf=around[3:4], source=right)
    grid.Free()
    return around


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    rows, columns = MPI.Compute_dims(world.Get_size(), 2)
    print(world.Get_rank(), halo(world, rows, columns, world.Get_rank()))
