"""A relative path in the working directory of mpiexec."""

import os

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

print(rank, os.path.samefile(os.getcwd(), os.path.dirname(os.path.abspath(__file__))))
