"""Reduce and allreduce: one result from all ranks."""

from mpi4py import MPI


def fractions(comm, numbers):
    """Return this rank's numbers as fractions of the total, and on rank 0 the largest number of all ranks."""
    total = comm.allreduce(sum(numbers), op=MPI.SUM)
    largest = comm.reduce(max(numbers), op=MPI.MAX, root=0)
    return [number / total for number in numbers], largest


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), *fractions(world, [1 + world.Get_rank(), 5 - world.Get_rank()]))
