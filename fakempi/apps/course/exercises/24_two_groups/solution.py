"""Two groups, with full duplex."""

import numpy as np
from mpi4py import MPI


def ring(comm, blocks):
    """Distribute row r of rank r to all ranks."""
    rank, size = comm.Get_rank(), comm.Get_size()
    for step in range(size - 1):
        outgoing, incoming = blocks[(rank - step) % size], blocks[(rank - step - 1) % size]
        comm.Sendrecv(outgoing, dest=(rank + 1) % size, recvbuf=incoming, source=(rank - 1) % size)


def across(local, inter, mine):
    """Return the other group's blocks, one row each; `local` is this group, `inter` connects both."""
    rank, size = local.Get_rank(), local.Get_size()
    theirs = np.empty((size, len(mine)), mine.dtype)
    inter.Sendrecv(mine, dest=rank, recvbuf=theirs[rank], source=rank)
    ring(local, theirs)
    return theirs


def exchange(comm, mine):
    """Exchange blocks between the first half of the ranks and the second half."""
    rank, half = comm.Get_rank(), comm.Get_size() // 2
    local = comm.Split(rank // half, key=rank)
    inter = local.Create_intercomm(0, comm, remote_leader=half if rank < half else 0)
    theirs = across(local, inter, mine)
    inter.Free()
    local.Free()
    return theirs


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    if world.Get_size() % 2:
        raise SystemExit("use an even number of ranks: fakempi run -n 8 24_two_groups.py")
    start = MPI.Wtime()
    blocks = exchange(world, np.full(1000, world.Get_rank()))
    print(world.Get_rank(), blocks[:, 0], f"{(MPI.Wtime() - start) * 1e6:.0f} us")
