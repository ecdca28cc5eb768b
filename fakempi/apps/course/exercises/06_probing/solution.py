"""Probing: the size of a message before it is received."""

import numpy as np
from mpi4py import MPI


def deliver(comm, numbers):
    """Return rank 0's numbers on every rank; on other ranks `numbers` is None."""
    if comm.Get_rank() == 0:
        for dest in range(1, comm.Get_size()):
            comm.Send(numbers, dest=dest)
        return numbers
    status = MPI.Status()
    comm.Probe(source=0, status=status)
    numbers = np.empty(status.Get_count(MPI.DOUBLE))
    comm.Recv(numbers, source=0)
    return numbers


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), deliver(world, np.arange(12.0) if world.Get_rank() == 0 else None))
