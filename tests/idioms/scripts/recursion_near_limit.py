"""Calls of MPI where the program has used nearly all of Python's recursion limit."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def deep(levels):
    """Communicate at a depth."""
    if levels:
        return deep(levels - 1)
    comm.Barrier()
    message = comm.sendrecv({"from": rank}, (rank + 1) % size, source=(rank - 1) % size)
    return message, comm.allreduce(1), comm.allgather(rank)


for levels in (900, 950, 985):
    print(rank, levels, deep(levels), sys.getrecursionlimit())
try:
    deep(2900)
except RecursionError:
    print("too deep", rank)
comm.Barrier()
if rank == 1:
    sys.setrecursionlimit(3000)
print(deep(2900 if rank == 1 else 5)[1:], sys.getrecursionlimit())
for wrong in (0, "many", 1.5):
    try:
        sys.setrecursionlimit(wrong)
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)
try:
    sys.setrecursionlimit(1)
except RecursionError:
    print("lower than the present depth")
print(rank, sys.getrecursionlimit())
