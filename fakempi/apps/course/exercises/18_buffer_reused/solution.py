"""A buffer reused too early."""

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
        requests.append(comm.Isend(np.full(length, float(dest)), dest=dest))
    MPI.Request.Waitall(requests)
    return np.zeros(length)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), rows(world, 4))
