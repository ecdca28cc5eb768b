"""A buffer reused too early.

`Isend` comes back at once. The array still belongs to MPI until the wait: it
may be read now, or later. Who writes to it in the meantime changes what is
sent, or does not; that hangs on the size, on the library, and on luck.

Rank 0 below sends each of the others a row of numbers, all from the same
array, and waits for all of them at the end. On some machines it is even right.

    fakempi run -n 3 --strict 15_buffer_reused.py

Your task: keep the sends nonblocking, so that all are under way at once, and
send the right rows. Each rank returns its own, filled with its rank.
"""

import numpy as np
from mpi4py import MPI


def rows(comm, length):
    """A row of this rank's number, which rank 0 has made."""
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
