"""A type mismatch.

With a capital letter, MPI sends memory. What the bytes mean, both sides have
to agree on: eight bytes can be a float or a whole number, and who reads one as
the other gets nonsense, without any error.

    fakempi run -n 2 16_types.py

Your task: rank 0 counts something and sends the counts to the others, which
return their mean. The counts are whole numbers. Make both sides agree; do not
change what is counted.
"""

import numpy as np
from mpi4py import MPI


def mean_of_counts(comm, counts):
    """The mean of rank 0's counts, on every rank. All ranks know how many there are."""
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
