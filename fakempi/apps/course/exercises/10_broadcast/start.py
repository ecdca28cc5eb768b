"""Broadcast by hand.

`comm.bcast(value, root=2)` sends rank 2's value to all ranks. It is one of the
collective operations: all ranks of a communicator call them. They are
implemented with sends and receives.

Your task: write `broadcast` with `send` and `recv` only. The root sends to
each of the other ranks, one after the other, and each of them receives once.
The root may be any rank. The program below is wrong in more than one case.

See it run:  fakempi run -n 4 10_broadcast.py
"""

from mpi4py import MPI


def broadcast(comm, value, root):
    """Return the root's value on every rank; on other ranks `value` is None."""
    if comm.Get_rank() == root:
        for dest in range(comm.Get_size()):
            comm.send(value, dest=dest)
    return comm.recv(source=0)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), broadcast(world, "news" if world.Get_rank() == 0 else None, root=0))
