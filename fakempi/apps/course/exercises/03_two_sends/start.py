"""Deadlock by two sends.

Two ranks want to exchange data. Both send, then both receive. Does that end?

A send may return at once, because the library keeps a copy of the message
until it is received (the send is buffered). Or it may wait until the other
rank receives. MPI permits both, and real libraries do both: small messages are
buffered, large ones wait. A program that deadlocks when sends wait is wrong,
even if it has worked for years with small messages. This exercise is checked
both ways.

Your task: make `swap` correct without relying on buffering. Partners are 0 and
1, 2 and 3, and so on; a last rank without a partner keeps its data. There is
more than one solution.

See the deadlock:  fakempi run -n 2 --cost hockney:eager_limit=0 03_two_sends.py
"""

from mpi4py import MPI


def swap(comm, mine):
    """Return the partner's data; without a partner, this rank's."""
    partner = comm.Get_rank() ^ 1  # 0 and 1, 2 and 3, ...
    if partner >= comm.Get_size():
        return mine
    comm.send(mine, dest=partner)
    return comm.recv(source=partner)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), "now has the data of", swap(world, world.Get_rank()))
