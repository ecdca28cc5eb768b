"""Run a thousand ranks in one process: a number travels around a ring, and every hop takes modeled time.

    python demos/01_hello.py
"""

import numpy as np
from screen import arguments

import fakempi
from fakempi import MPI, Hockney


def main(comm):
    """Receive the number from the left, add one, send it to the right; rank 0 starts and receives it back."""
    rank, size = comm.Get_rank(), comm.Get_size()
    left, right = (rank - 1) % size, (rank + 1) % size
    number, start = np.zeros(1, dtype=np.int64), MPI.Wtime()
    if rank == 0:
        comm.Send(number, dest=right)
        comm.Recv(number, source=left)
    else:
        comm.Recv(number, source=left)
        number += 1
        comm.Send(number, dest=right)
    if rank % 250 == 0:
        elapsed = (MPI.Wtime() - start) * 1e6
        print(f"rank {rank:3} of {size}: the number is {number[0]:3}, the clock is at {elapsed:6.1f} us")
    return int(number[0])


arguments(__doc__)
result = fakempi.run(main, 1000, cost=Hockney(t_s=1e-6, t_w=1e-9))

print()
print(f"{len(result.returns)} ranks, {result.messages} messages, {result.bytes} bytes")
print(f"modeled time {result.time * 1e6:.1f} us: 1000 hops, each of 1 us plus 8 bytes at 1 ns")
