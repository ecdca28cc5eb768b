"""An MPI error is an exception that the program can handle."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

try:
    comm.send("x", dest=size)
except MPI.Exception as error:
    print(rank, error.Get_error_class() == MPI.ERR_RANK)
