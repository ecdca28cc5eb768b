"""A collective call on some ranks only.

All ranks of a communicator must make a collective call. If one rank does not
call, the other ranks wait for it without end; or ranks are in different calls,
and each assumes that it is the same call.

The program below returns early on ranks that have no numbers. It works in all
small tests, where every rank has some.

    fakempi run -n 3 20_missing_rank.py

Your task: `mean` returns the mean of all ranks' numbers on every rank, also
if a rank has none, and None on every rank if no rank has any. Fix it without
send and receive.
"""

from mpi4py import MPI


def mean(comm, numbers):
    """Return the mean of all ranks' numbers, or None if there are none."""
    if not numbers:
        return None
    total = comm.allreduce(sum(numbers))
    count = comm.allreduce(len(numbers))
    return total / count


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), mean(world, [1.0, 2.0] if world.Get_rank() != 1 else []))
