"""A buffer reused too early.

`Isend` returns at once. MPI may read the array at any time until the wait. A
program that changes the array in the meantime may or may not change the
message: that depends on the size, on the library, and on timing.

Rank 0 below sends each of the other ranks a row of numbers, all from the same
array, and waits for all sends at the end. On some machines the result happens
to be right.

    fakempi run -n 3 --strict 18_buffer_reused.py

Your task: keep the sends nonblocking, so that all are in progress at once, and
send the right rows. Each rank returns its row, filled with its rank.
"""

import numpy as np
from mpi4py import MPI


def rows(comm, length):
    """Return a row filled with this rank's number, which rank 0 has sent."""
    rank, size = comm.Get_rank(), comm.Get_size()
    row = np.zeros(length)
    if rank > 0:
        comm.Recv(row, source=0)
        return row
    requests = []
    for dest in range(1, size):
        row[:] = dest
        requests.append(comm.Isend(row, dest=dest))
    MPI.Request.Waitall(requests)
    return np.zeros(length)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), rows(world, 4))
