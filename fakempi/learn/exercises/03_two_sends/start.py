"""Deadlock by two sends.

Two ranks want to exchange what they have. Both send, then both receive. Does
that end?

A send may come back at once, because the library keeps a copy of the message
until somebody wants it (it is buffered). Or it may wait until the other one
receives. MPI allows both, and real libraries do both: small messages are
buffered, large ones wait. A program that hangs when sends wait is wrong, even
if it has worked for years with small messages. This one is checked both ways.

Your task: make `swap` right without relying on buffers. Partners are 0 and 1,
2 and 3, and so on; a last rank without a partner keeps what it has. There is
more than one way.

See it hang:  fakempi run -n 2 --cost hockney:eager_limit=0 03_two_sends.py
"""

from mpi4py import MPI


def swap(comm, mine):
    """What the partner has; or, without one, what this rank has."""
    partner = comm.Get_rank() ^ 1  # 0 and 1, 2 and 3, ...
    if partner >= comm.Get_size():
        return mine
    comm.send(mine, dest=partner)
    return comm.recv(source=partner)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), "has now what belonged to", swap(world, world.Get_rank()))
