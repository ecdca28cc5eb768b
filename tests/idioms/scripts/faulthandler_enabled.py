"""Packages enable the fault handler at import."""

import faulthandler

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

faulthandler.enable()
comm.Barrier()
print(rank, faulthandler.is_enabled())
