"""Pipelining, and the best block size."""

from math import sqrt

import numpy as np
from mpi4py import MPI


def best_block(size, m, t_s, t_w):
    """Return the best block size in bytes, for m bytes on `size` ranks."""
    return max(1, round(sqrt(m * t_s / ((size - 2) * t_w))))


def pipeline(comm, array, block):
    """Return rank 0's bytes on every rank; other ranks have an array to receive them into."""
    rank, size = comm.Get_rank(), comm.Get_size()
    pending = MPI.REQUEST_NULL
    for start in range(0, len(array), block):
        part = array[start : start + block]
        if rank > 0:
            comm.Recv(part, source=rank - 1)
        pending.Wait()
        if rank < size - 1:
            pending = comm.Isend(part, dest=rank + 1)
    pending.Wait()
    return array


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    data = np.ones(100_000, np.uint8) if world.Get_rank() == 0 else np.zeros(100_000, np.uint8)
    size = best_block(world.Get_size(), len(data), 1e-6, 1e-9)
    start = MPI.Wtime()
    print(world.Get_rank(), pipeline(world, data, size).sum(), f"{(MPI.Wtime() - start) * 1e6:.1f} us")
