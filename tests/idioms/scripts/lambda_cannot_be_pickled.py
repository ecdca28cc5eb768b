"""The exception of pickle arrives in the program."""
# ranks: 2

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

try:
    comm.send(lambda: 0, dest=rank)
except Exception as error:
    print(rank, type(error).__name__, "pickle" in str(error))
