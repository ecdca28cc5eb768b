"""Broadcast by hand.

`comm.bcast(value, root=2)` gives rank 2's value to everybody. It is one of the
collective operations: calls that all ranks of a communicator make. Inside they
are sends and receives, as you could write them yourself.

Your task: write `broadcast` with `send` and `recv` alone. The root sends to
each of the others, one after the other, and each of those receives once. The
root may be any rank. The program below does not quite do that.

See it run:  fakempi run -n 4 07_broadcast.py
"""

from mpi4py import MPI


def broadcast(comm, value, root):
    """Every rank returns the root's value; elsewhere `value` is None."""
    if comm.Get_rank() == root:
        for dest in range(comm.Get_size()):
            comm.send(value, dest=dest)
    return comm.recv(source=0)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), broadcast(world, "news" if world.Get_rank() == 0 else None, root=0))
