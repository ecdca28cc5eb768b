"""Tree against chain.

A chain brings a message from rank 0 to p ranks in p - 1 steps: each rank sends
it to the next. But every rank that has the message can send it. After one step
two ranks have it, after two steps four, after three eight: a binomial tree
needs log2(p) steps, rounded up. With 1,000 ranks that is 10 instead of 999.

In round k = 0, 1, 2, ... the ranks below 2^k have the array, and rank r sends
it to rank r + 2^k, if there is one.

Your task: turn the chain below into a tree. A message of m bytes takes t_s + m
t_w; a rank sends one message at a time. On p ranks it must take exactly
ceil(log2 p) (t_s + m t_w).

See it:  fakempi run -n 8 --trace t.json 11_tree_against_chain.py && fakempi view t.json --what timeline
"""

import numpy as np
from mpi4py import MPI


def tree(comm, array):
    """Return rank 0's array on every rank; other ranks have an array of the same size to receive into."""
    rank, size = comm.Get_rank(), comm.Get_size()
    if rank > 0:
        comm.Recv(array, source=rank - 1)
    if rank < size - 1:
        comm.Send(array, dest=rank + 1)
    return array


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    numbers = np.arange(1000.0) if world.Get_rank() == 0 else np.zeros(1000)
    start = MPI.Wtime()
    print(world.Get_rank(), tree(world, numbers).sum(), f"after {(MPI.Wtime() - start) * 1e6:.0f} us")
