"""Probing: the size of a message before it is received.

`Recv` needs an array that is large enough. A receiver that does not know the
size of the message can probe for it first:

    status = MPI.Status()
    comm.Probe(source=0, status=status)   wait for a message, do not receive it
    status.Get_count(MPI.DOUBLE)          the number of doubles in it

Your task: rank 0 has an array of doubles and sends it to each of the other
ranks, which return it. They do not know its length: it may be 0, or a million.
The program below assumes that ten are enough.

See it run:  fakempi run -n 3 06_probing.py
"""

import numpy as np
from mpi4py import MPI


def deliver(comm, numbers):
    """Return rank 0's numbers on every rank; on other ranks `numbers` is None."""
    if comm.Get_rank() == 0:
        for dest in range(1, comm.Get_size()):
            comm.Send(numbers, dest=dest)
        return numbers
    numbers = np.empty(10)
    comm.Recv(numbers, source=0)
    return numbers


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), deliver(world, np.arange(12.0) if world.Get_rank() == 0 else None))
