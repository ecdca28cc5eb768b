"""Deadlock by two sends."""

from mpi4py import MPI


def swap(comm, mine):
    """What the partner has; or, without one, what this rank has."""
    partner = comm.Get_rank() ^ 1  # 0 and 1, 2 and 3, ...
    if partner >= comm.Get_size():
        return mine
    return comm.sendrecv(mine, dest=partner, source=partner)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), "has now what belonged to", swap(world, world.Get_rank()))
