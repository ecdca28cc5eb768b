"""A lost message.

The next five programs are wrong, and most of them look right: they end, and on
small cases they print the right numbers. Find what is wrong, then mend it with
as few changes as you can.

Rank 0 deals numbers to the others in turn, as one deals cards, and each adds
up what it gets. Everything is sent. Is everything received? A message that
nobody receives is lost without a word: MPI does not say so, and neither do
most libraries. Here it is a finding, with the line that sent it:

    fakempi run -n 3 13_lost_message.py

Your task: no message is lost, and every rank returns the sum of the numbers it
was dealt (rank 0: 0). On a single rank there is nobody to deal to: it adds up
all of them.
"""

from mpi4py import MPI


def deal(comm, numbers):
    """The sum of what this rank was dealt; all know how many numbers there are."""
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
