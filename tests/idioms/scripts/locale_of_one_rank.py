"""A rank sets its locale."""

import locale

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 0:
    locale.setlocale(locale.LC_ALL, "C")
comm.Barrier()
print(rank, f"{1234.5:n}")
