"""A Cartesian halo exchange.

A field is divided into a grid of rectangles, one for each rank. To compute on
its rectangle, a rank needs the border of each of its four neighbors, the halo.
MPI supports grids:

    grid = comm.Create_cart([rows, columns], periods=[False, True])
    up, down = grid.Shift(0, 1)            the ranks one row before and after
    left, right = grid.Shift(1, 1)         the ranks one column before and after

Beyond the edge of the grid, `Shift` returns MPI.PROC_NULL. Sending to it and
receiving from it does nothing, so the edge needs no special case. In the
second direction this grid is periodic: the last column is next to the first.

Your task: every rank has one number; return those of the neighbors as [up,
down, left, right], with -1 where there is no neighbor. `Sendrecv` to one side
while receiving from the other, four times. The program below assumes that the
next row is the next rank.

See it run:  fakempi run -n 6 15_halo.py
"""

import numpy as np
from mpi4py import MPI


def halo(comm, rows, columns, number):
    """Return the numbers of the four neighbors; -1 where there is none."""
    grid = comm.Create_cart([rows, columns], periods=[False, False])
    rank, size = grid.Get_rank(), grid.Get_size()
    up, down = (rank - 1) % size, (rank + 1) % size
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
