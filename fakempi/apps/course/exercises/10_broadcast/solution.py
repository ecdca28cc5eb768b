"""Broadcast by hand."""

from mpi4py import MPI


def broadcast(comm, value, root):
    """Return the root's value on every rank; on other ranks `value` is None."""
    if comm.Get_rank() != root:
        return comm.recv(source=root)
    for dest in range(comm.Get_size()):
        if dest != root:
            comm.send(value, dest=dest)
    return value


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), broadcast(world, "news" if world.Get_rank() == 0 else None, root=0))
