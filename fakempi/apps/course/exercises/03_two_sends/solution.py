"""Deadlock by two sends."""

from mpi4py import MPI


def swap(comm, mine):
    """Return the partner's data; without a partner, this rank's."""
    partner = comm.Get_rank() ^ 1  # 0 and 1, 2 and 3, ...
    if partner >= comm.Get_size():
        return mine
    return comm.sendrecv(mine, dest=partner, source=partner)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), "now has the data of", swap(world, world.Get_rank()))
