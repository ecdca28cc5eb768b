"""Memory that ranks of a node share."""

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

node = comm.Split_type(MPI.COMM_TYPE_SHARED)
window = MPI.Win.Allocate_shared(8 * node.size if node.rank == 0 else 0, 8, comm=node)
memory, _ = window.Shared_query(0)
array = np.ndarray(buffer=memory, dtype="d", shape=(node.size,))
window.Fence()
array[node.rank] = node.rank + 0.5
window.Fence()
print(rank, array)
window.Free()
node.Free()
