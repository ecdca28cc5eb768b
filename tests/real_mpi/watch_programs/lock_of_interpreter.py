"""An MPI call in C that does not release the interpreter lock."""

import ctypes

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 1:
    library = ctypes.PyDLL(MPI.__file__)  # calls of PyDLL hold the lock
    library.PMPI_Barrier(ctypes.c_void_p(MPI._handleof(comm)))
comm.recv(source=1)
