"""A shared counter by one-sided calls."""

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

window = MPI.Win.Allocate(8 if rank == 0 else 0, comm=comm)
one, old = np.ones(1, "q"), np.empty(1, "q")
if rank == 0:
    np.frombuffer(window.tomemory(), "q")[:] = 0
comm.Barrier()
window.Lock(0)
window.Fetch_and_op(one, old, 0)
window.Unlock(0)
print(sorted(comm.allgather(int(old[0]))))
window.Free()
