"""Pipeline with persistent requests"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
a, b = np.zeros(2), np.zeros(2)
s, r = comm.Send_init(a, (rank + 1) % size), comm.Recv_init(b, (rank - 1) % size)
for i in range(4):
    a[:] = rank * 10 + i
    MPI.Prequest.Startall([r, s])
    MPI.Request.Waitall([r, s])
    print(rank, i, b)
s.Free()
r.Free()
print(s == MPI.REQUEST_NULL, bool(r))
