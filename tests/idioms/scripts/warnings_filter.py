"""Ranks other than 0 ignore warnings."""

import warnings

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank != 0:
    warnings.simplefilter("ignore")
comm.Barrier()
with warnings.catch_warnings(record=True) as found:
    warnings.warn("slow", UserWarning, stacklevel=1)
print(rank, [str(each.message) for each in found])
