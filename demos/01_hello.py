"""A thousand ranks in one process: a token goes round, and every hop has its price in modelled time.

    python demos/01_hello.py
"""

import numpy as np
from screen import asked

import fakempi
from fakempi import MPI, Hockney


def main(comm):
    """Wait for the token from the left, add one, pass it on to the right; rank 0 starts it and gets it back."""
    rank, size = comm.Get_rank(), comm.Get_size()
    left, right = (rank - 1) % size, (rank + 1) % size
    token = np.zeros(1, dtype=np.int64)
    if rank == 0:
        comm.Send(token, dest=right)
        comm.Recv(token, source=left)
    else:
        comm.Recv(token, source=left)
        token += 1
        comm.Send(token, dest=right)
    if rank % 250 == 0:
        print(f"rank {rank:3} of {size}: the token says {token[0]:3}, my clock says {MPI.Wtime() * 1e6:6.1f} us")
    return int(token[0])


asked(__doc__)
result = fakempi.run(main, 1000, cost=Hockney(t_s=1e-6, t_w=1e-9))

print()
print(f"{len(result.returns)} ranks, {result.messages} messages, {result.bytes} bytes")
print(f"modelled time {result.time * 1e6:.1f} us: 1000 hops of 1 us and 8 bytes at 1 ns each")
