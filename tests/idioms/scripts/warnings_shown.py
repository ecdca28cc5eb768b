"""Warnings are printed by a function of the program."""

import warnings

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

warnings.showwarning = lambda message, *rest, **options: print(rank, "warns:", message)
comm.Barrier()
warnings.warn("old function", stacklevel=1)
