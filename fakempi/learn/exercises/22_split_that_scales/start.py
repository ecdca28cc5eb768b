"""A split that scales.

`comm.Split(color)` makes a group of all ranks with the same color. What does
it take to find out which rank one has in that group? The usual way is in the
file below: everybody learns everybody's color, and counts. With a million
ranks that is a list of a million colors on each of a million ranks, and the
time grows with the number of ranks.

But a rank needs only two numbers: how many before it have its color, and how
many have it at all. Moody and others (2011) find both with scans, which take
log2(p) rounds. If there are few colors, 0 to colors - 1, a table with a count
for each is enough:

    comm.Exscan(table, before)         sums over all ranks before this one
    comm.Allreduce(table, total)       sums over all ranks

Rank 0 has nobody before it, and Exscan leaves its array as it is.

Your task: write `place` so that its time grows as log2(p): 256 ranks must not
take more than 2.5 times as long as 16.

See it run:  fakempi run -n 8 22_split_that_scales.py
"""

import numpy as np
from mpi4py import MPI


def place(comm, color, colors):
    """Which rank this one has among those of its color, and how many there are."""
    everybody = np.empty(comm.Get_size(), np.int64)
    comm.Allgather(np.array([color], np.int64), everybody)
    mine = everybody == color
    return int(mine[: comm.Get_rank()].sum()), int(mine.sum())


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    color = world.Get_rank() % 3
    print(world.Get_rank(), "color", color, "place", place(world, color, 3))
