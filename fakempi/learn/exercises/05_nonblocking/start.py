"""Nonblocking: compute while messages travel.

    request = comm.Irecv(array, source=1)     begin to receive
    request = comm.Isend(array, dest=2)       begin to send
    MPI.Request.Waitall(requests)             now all of it has happened

Until the wait the array that is received is not there yet, and the one that is
sent must not be written to. With a capital letter calls take numpy arrays and
no other objects: there is nothing to pack and unpack.

In a ring every rank gives its numbers to the next and gets those of the one
before, and has something to compute in the meantime, for which it needs
neither. The program below communicates first and computes afterwards: it takes
both times.

Your task: begin to communicate, then compute, then wait. It should take as
long as the longer of the two. `compute` stands for the work: `time.sleep`
takes modelled time here, and none of yours.

See it:  fakempi run -n 4 --trace t.json 05_nonblocking.py && fakempi view t.json --what timeline
"""

import time

import numpy as np
from mpi4py import MPI


def compute(seconds):
    """Some work."""
    time.sleep(seconds)


def step(comm, mine, seconds):
    """The numbers of the rank before, after as much work as takes so many seconds."""
    rank, size = comm.Get_rank(), comm.Get_size()
    theirs = np.empty_like(mine)
    comm.Sendrecv(mine, dest=(rank + 1) % size, recvbuf=theirs, source=(rank - 1) % size)
    compute(seconds)
    return theirs


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    numbers = np.full(10_000, world.Get_rank())
    print(world.Get_rank(), step(world, numbers, 60e-6)[0], f"after {MPI.Wtime():.6f} s")
