"""A rank sets its time zone."""
# ranks: 2

import os
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 1:
    os.environ["TZ"] = "XXX-5"
    time.tzset()
comm.Barrier()
print(rank, time.localtime(0).tm_hour - time.gmtime(0).tm_hour)
