"""One rank calls another collective operation than the others."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
data = np.ones(4)
if comm.rank == 3:
    comm.Bcast(data, root=0)
else:
    comm.Allreduce(MPI.IN_PLACE, data)
