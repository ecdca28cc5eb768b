"""Nonblocking communication: compute while messages travel."""

import time

import numpy as np
from mpi4py import MPI


def compute(seconds):
    """Stand for some work."""
    time.sleep(seconds)


def step(comm, mine, seconds):
    """Return the numbers of the rank before, after work of some seconds."""
    rank, size = comm.Get_rank(), comm.Get_size()
    theirs = np.empty_like(mine)
    requests = [comm.Irecv(theirs, source=(rank - 1) % size), comm.Isend(mine, dest=(rank + 1) % size)]
    compute(seconds)
    MPI.Request.Waitall(requests)
    return theirs


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    numbers = np.full(10_000, world.Get_rank())
    start = MPI.Wtime()
    print(world.Get_rank(), step(world, numbers, 60e-6)[0], f"after {MPI.Wtime() - start:.6f} s")
