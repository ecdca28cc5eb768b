"""Two groups, with full duplex.

Ranks are in two groups of p each, and every rank must receive the blocks of
all ranks of the other group. An intercommunicator connects two groups: in it,
`dest` and `source` are ranks of the other group.

The usual algorithm uses the two leaders: each gathers its group's blocks, they
exchange them, and each broadcasts in its group. But a leader can receive only
one message at a time, while all other ranks wait. Kang and others (2019) use
the links of all ranks: rank i of one group exchanges blocks with rank i of the
other, all pairs at once. Then each group has all blocks that it needs, one on
each rank, and an allgather in the group distributes them. With a ring that is

    1 + (p - 1) messages in sequence:  p (t_s + m t_w)

Your task: write `across` this way. `ring` below is the ring of exercise 21.

See it:  fakempi run -n 8 --trace t.json 24_two_groups.py && fakempi view t.json --what timeline
"""

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
    ours = np.empty((size, len(mine)), mine.dtype) if rank == 0 else None
    theirs = np.empty((size, len(mine)), mine.dtype)
    local.Gather(mine, ours, root=0)
    if rank == 0:
        inter.Sendrecv(ours, dest=0, recvbuf=theirs, source=0)
    local.Bcast(theirs, root=0)
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
