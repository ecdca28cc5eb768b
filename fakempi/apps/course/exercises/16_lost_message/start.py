"""A lost message.

The next five programs are wrong, and most of them look right: they end, and in
small cases they print the right numbers. Find the bug, then fix it with as few
changes as you can.

Rank 0 distributes numbers to the other ranks in turn, and each rank adds the
numbers it gets. All numbers are sent. Are all of them received? A message that
is never received is lost silently: MPI does not report it, and most libraries
do not either. fakempi reports a finding, with the line of the send:

    fakempi run -n 3 16_lost_message.py

Your task: no message is lost, and every rank returns the sum of the numbers
that were sent to it (rank 0: 0). A single rank has no other rank to send to:
it adds all of the numbers.
"""

from mpi4py import MPI


def deal(comm, numbers):
    """Return the sum of the numbers sent to this rank; all ranks know the count."""
    rank, others = comm.Get_rank(), comm.Get_size() - 1
    if others == 0:
        return sum(numbers)
    if rank == 0:
        for i, number in enumerate(numbers):
            comm.send(number, dest=1 + i % others)
        return 0
    mine = len(numbers) // others
    return sum(comm.recv(source=0) for _ in range(mine))


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), deal(world, range(10, 15)))
