"""The blocked ring, on irregular data."""

import numpy as np
from mpi4py import MPI


def cut(counts, block):
    """Return start and end of each piece, and the number of each rank's first piece; the last entry is b."""
    pieces, firsts, start = [], [], 0
    for count in counts:
        firsts.append(len(pieces))
        pieces += [(begin, begin + block) for begin in range(start, start + count, block)]
        start += count
    return pieces, [*firsts, len(pieces)]


def allgatherv(comm, mine, counts, block):
    """Return the data of all ranks, in order; counts are multiples of the block size, in bytes."""
    rank, size = comm.Get_rank(), comm.Get_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    pieces, firsts = cut(counts, block)
    everything = np.empty(sum(counts), np.uint8)
    everything[sum(counts[:rank]) : sum(counts[: rank + 1])] = mine
    b, own = len(pieces), [firsts[i + 1] - firsts[i] for i in range(size)]
    for k in range(b - min(own)):
        start, end = pieces[(firsts[rank + 1] - 1 - k) % b]
        first, last = pieces[(firsts[rank] - 1 - k) % b]
        dest = right if k < b - own[right] else MPI.PROC_NULL
        source = left if k < b - own[rank] else MPI.PROC_NULL
        comm.Sendrecv(everything[start:end], dest=dest, recvbuf=everything[first:last], source=source)
    return everything


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    counts = [64_000] + [1000] * (world.Get_size() - 1)
    block = np.full(counts[world.Get_rank()], world.Get_rank(), np.uint8)
    start = MPI.Wtime()
    total = allgatherv(world, block, counts, 1000).sum()
    print(world.Get_rank(), total, f"{(MPI.Wtime() - start) * 1e6:.0f} us")
