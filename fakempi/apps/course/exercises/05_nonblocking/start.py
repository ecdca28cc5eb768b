"""Nonblocking communication: compute while messages travel.

    request = comm.Irecv(array, source=1)     start to receive
    request = comm.Isend(array, dest=2)       start to send
    MPI.Request.Waitall(requests)             wait until all have completed

Before the wait, the received array has no valid content, and the sent array
must not be changed. Methods with a capital letter take numpy arrays and other
buffers: nothing is pickled.

In a ring every rank sends its numbers to the next rank and receives those of
the rank before. Meanwhile it computes something that needs neither array. The
program below communicates first and computes afterwards, which takes the sum
of both times.

Your task: start the communication, then compute, then wait. It should take as
long as the longer of the two. `compute` stands for the work: `time.sleep`
takes modeled time here, not real time.

See it:  fakempi run -n 4 --trace t.json 05_nonblocking.py && fakempi view t.json --what timeline
"""

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
    comm.Sendrecv(mine, dest=(rank + 1) % size, recvbuf=theirs, source=(rank - 1) % size)
    compute(seconds)
    return theirs


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    numbers = np.full(10_000, world.Get_rank())
    start = MPI.Wtime()
    print(world.Get_rank(), step(world, numbers, 60e-6)[0], f"after {MPI.Wtime() - start:.6f} s")
