"""A type mismatch.

Methods with a capital letter send memory. Sender and receiver must agree on
the meaning of the bytes: eight bytes can be a float or an integer. A receiver
that takes one for the other gets meaningless numbers, without any error.

    fakempi run -n 2 19_types.py

Your task: rank 0 has counts and sends them to the other ranks, which return
their mean. The counts are integers. Make sender and receiver agree; do not
change the counts.
"""

import numpy as np
from mpi4py import MPI


def mean_of_counts(comm, counts):
    """Return the mean of rank 0's counts on every rank. All ranks know how many counts there are."""
    rank, size = comm.Get_rank(), comm.Get_size()
    if rank == 0:
        counts = np.array(counts)
        for dest in range(1, size):
            comm.Send(counts, dest=dest)
    else:
        counts = np.empty(len(counts))
        comm.Recv(counts, source=0)
    return float(counts.mean())


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    counts = [3, 1, 4, 1, 5] if world.Get_rank() == 0 else [0] * 5
    print(world.Get_rank(), mean_of_counts(world, counts))
