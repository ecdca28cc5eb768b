"""The blocked ring, on irregular data.

In an allgatherv ranks have blocks of different sizes. The ring of exercise 21
still works. But in every round one rank sends the largest block, and all other
ranks wait for it: (p - 1)(t_s + M t_w), where M is the size of the largest
block. If one rank has nearly all of the data, this takes about p - 1 times as
long as necessary.

Träff and others (2008) divide all blocks into pieces of B bytes, numbered over
all ranks, and let each rank send one piece in each round. Rank i has pieces
s_i, ..., s_i + b_i - 1 of b in total. In round k = 0, 1, 2, ... rank i

    sends      piece (s_i + b_i - 1 - k) mod b      to i + 1,  while k < b - b_(i+1)
    receives   piece (s_i - 1 - k) mod b            from i - 1, while k < b - b_i

so no rank receives a piece that it already has. All pieces are equal here, so
it takes b - min b_i rounds of t_s + B t_w. (On few ranks with short blocks
this is not faster, because there are more start-ups.)

Your task: write the rounds. `cut` returns the pieces and the first number s_i
of each rank; the ring below sends whole blocks.

See it:  fakempi run -n 7 --trace t.json 23_blocked_ring.py && fakempi view t.json --what timeline
"""

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
    starts = np.cumsum([0, *counts])
    everything = np.empty(starts[-1], np.uint8)
    everything[starts[rank] : starts[rank + 1]] = mine
    for step in range(size - 1):
        out, into = (rank - step) % size, (rank - step - 1) % size
        outgoing = everything[starts[out] : starts[out + 1]]
        incoming = everything[starts[into] : starts[into + 1]]
        comm.Sendrecv(outgoing, dest=right, recvbuf=incoming, source=left)
    return everything


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    counts = [64_000] + [1000] * (world.Get_size() - 1)
    block = np.full(counts[world.Get_rank()], world.Get_rank(), np.uint8)
    start = MPI.Wtime()
    total = allgatherv(world, block, counts, 1000).sum()
    print(world.Get_rank(), total, f"{(MPI.Wtime() - start) * 1e6:.0f} us")
