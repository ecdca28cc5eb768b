"""A type mismatch."""

import numpy as np
from mpi4py import MPI


def mean_of_counts(comm, counts):
    """Return the mean of rank 0's counts on every rank. All ranks know how many counts there are."""
    rank, size = comm.Get_rank(), comm.Get_size()
    if rank == 0:
        counts = np.array(counts, dtype=np.int64)
        for dest in range(1, size):
            comm.Send(counts, dest=dest)
    else:
        counts = np.empty(len(counts), dtype=np.int64)
        comm.Recv(counts, source=0)
    return float(counts.mean())


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    counts = [3, 1, 4, 1, 5] if world.Get_rank() == 0 else [0] * 5
    print(world.Get_rank(), mean_of_counts(world, counts))
