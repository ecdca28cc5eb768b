"""Pipelining, and the best block size."""

from math import sqrt

import numpy as np
from mpi4py import MPI


def best_block(size, m, t_s, t_w):
    """How many bytes a block should have, for m bytes on so many ranks."""
    return max(1, round(sqrt(m * t_s / ((size - 2) * t_w))))


def pipeline(comm, array, block):
    """Every rank returns rank 0's bytes; the others have an array to receive them into."""
    rank, size = comm.Get_rank(), comm.Get_size()
    under_way = MPI.REQUEST_NULL
    for start in range(0, len(array), block):
        part = array[start : start + block]
        if rank > 0:
            comm.Recv(part, source=rank - 1)
        under_way.Wait()
        if rank < size - 1:
            under_way = comm.Isend(part, dest=rank + 1)
    under_way.Wait()
    return array


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    data = np.ones(100_000, np.uint8) if world.Get_rank() == 0 else np.zeros(100_000, np.uint8)
    size = best_block(world.Get_size(), len(data), 1e-6, 1e-9)
    print(world.Get_rank(), pipeline(world, data, size).sum(), f"{MPI.Wtime() * 1e6:.1f} us")
