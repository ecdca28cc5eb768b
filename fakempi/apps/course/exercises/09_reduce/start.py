"""Reduce and allreduce: one result from all ranks.

    total = comm.reduce(mine, op=MPI.SUM, root=0)      on rank 0, None elsewhere
    total = comm.allreduce(mine, op=MPI.SUM)           on every rank

Both combine one value of each rank with an operation: MPI.SUM, which is the
default, MPI.MAX, MPI.MIN, MPI.PROD and others. Use `allreduce` if all ranks
need the result.

Your task: each rank has a list of numbers. Every rank returns two values: its
numbers, each divided by the sum of all numbers of all ranks; and, on rank 0
only, the largest number of all ranks (None on the other ranks). The program
below has two bugs.

See it run:  fakempi run -n 3 09_reduce.py
"""

from mpi4py import MPI


def fractions(comm, numbers):
    """Return this rank's numbers as fractions of the total, and on rank 0 the largest number of all ranks."""
    total = comm.reduce(sum(numbers), root=0)
    largest = comm.reduce(max(numbers), root=0)
    return [number / total for number in numbers], largest


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), *fractions(world, [1 + world.Get_rank(), 5 - world.Get_rank()]))
