"""Heat equation with halo and Waitall"""

# ranks: 4
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
n = 8
u = np.zeros((n + 2, n))
u[1:-1] = np.arange(n * n).reshape(n, n) * (rank + 1)
up, down = (rank - 1 if rank else MPI.PROC_NULL), (rank + 1 if rank < size - 1 else MPI.PROC_NULL)
for _ in range(5):
    reqs = [comm.Irecv(u[0], up, 1), comm.Irecv(u[-1], down, 0), comm.Isend(u[1], up, 0), comm.Isend(u[-2], down, 1)]
    st = [MPI.Status() for _ in reqs]
    MPI.Request.Waitall(reqs, st)
    v = u.copy()
    v[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
    u = v
print(rank, round(comm.allreduce(float(u[1:-1].sum())), 6), [s.source for s in st[:2]], [s.tag for s in st[:2]])
