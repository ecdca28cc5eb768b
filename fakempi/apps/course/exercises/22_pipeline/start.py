"""Pipelining, and the best block size.

A chain sends an array of m bytes from rank to rank. In one piece, it takes p -
1 messages of m bytes, one after the other. Divided into b blocks of B bytes,
rank 1 can send the first block while it receives the second: after p - 1 steps
the first block has arrived at the last rank, and then one more in each step:

    (p - 2 + b) (t_s + B t_w)        with b = m / B

Small blocks cost too many start-ups, large blocks give too little overlap. To
find the best size, put b = m / B into the formula, and set its derivative by B
to zero.

Your task: two functions. `pipeline` sends blocks so that it takes exactly the
time above: a rank in the middle sends block k while it receives block k + 1.
`best_block` returns the best size in bytes, for p > 2; up to 5 % more time
than the best is accepted.

See it:  fakempi run -n 6 --trace t.json 22_pipeline.py && fakempi view t.json --what timeline
"""

import numpy as np
from mpi4py import MPI


def best_block(size, m, t_s, t_w):
    """Return the best block size in bytes, for m bytes on `size` ranks."""
    return m


def pipeline(comm, array, block):
    """Return rank 0's bytes on every rank; other ranks have an array to receive them into."""
    rank, size = comm.Get_rank(), comm.Get_size()
    for start in range(0, len(array), block):
        part = array[start : start + block]
        if rank > 0:
            comm.Recv(part, source=rank - 1)
        if rank < size - 1:
            comm.Send(part, dest=rank + 1)
    return array


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    data = np.ones(100_000, np.uint8) if world.Get_rank() == 0 else np.zeros(100_000, np.uint8)
    size = best_block(world.Get_size(), len(data), 1e-6, 1e-9)
    start = MPI.Wtime()
    print(world.Get_rank(), pipeline(world, data, size).sum(), f"{(MPI.Wtime() - start) * 1e6:.1f} us")
