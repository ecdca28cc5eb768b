"""Each rank has its own precision."""

import decimal

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

decimal.getcontext().prec = 3 + rank
comm.Barrier()
print(rank, decimal.Decimal(1) / 7)
