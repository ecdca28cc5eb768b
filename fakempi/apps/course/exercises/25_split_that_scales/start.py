"""A split that scales.

`comm.Split(color)` makes a group of all ranks with the same color. How does a
rank find its rank in that group? The program below uses the simple way: every
rank gathers the colors of all ranks, and counts. With a million ranks that is
a list of a million colors on each of a million ranks, and the time grows in
proportion to the number of ranks.

But a rank needs only two numbers: how many ranks before it have its color, and
how many have it in total. Moody and others (2011) find both with scans, which
take log2(p) rounds. If there are few colors, 0 to colors - 1, a table with a
count for each is enough:

    comm.Exscan(table, before)         sums over all ranks before this one
    comm.Allreduce(table, total)       sums over all ranks

Rank 0 has no rank before it, and Exscan leaves its array unchanged.

Your task: write `place` so that its time grows as log2(p): 256 ranks must not
take more than 2.5 times as long as 16.

See it run:  fakempi run -n 8 25_split_that_scales.py
"""

import numpy as np
from mpi4py import MPI


def place(comm, color, colors):
    """Return this rank's position among the ranks of its color, and the number of those."""
    of_all = np.empty(comm.Get_size(), np.int64)
    comm.Allgather(np.array([color], np.int64), of_all)
    mine = of_all == color
    return int(mine[: comm.Get_rank()].sum()), int(mine.sum())


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    color = world.Get_rank() % 3
    print(world.Get_rank(), "color", color, "place", place(world, color, 3))
