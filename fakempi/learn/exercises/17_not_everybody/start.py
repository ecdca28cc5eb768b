"""A collective call on some ranks only.

A collective call is for all ranks of its communicator. If one of them does not
come, the others wait for it, in vain; or they meet in different calls, and
each believes that it was the same.

The program below has an early return for ranks that have nothing to do. It
works in all small tests, where everybody has something to do.

    fakempi run -n 3 17_not_everybody.py

Your task: `mean` returns the mean of all ranks' numbers on every rank, also
where a rank has none, and None everywhere if nobody has any. Mend it without
sending anything by hand.
"""

from mpi4py import MPI


def mean(comm, numbers):
    """The mean of all ranks' numbers, or None if there are none at all."""
    if not numbers:
        return None
    total = comm.allreduce(sum(numbers))
    count = comm.allreduce(len(numbers))
    return total / count


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), mean(world, [1.0, 2.0] if world.Get_rank() != 1 else []))
