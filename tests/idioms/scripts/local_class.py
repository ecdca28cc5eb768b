"""A class that is defined in a function cannot be pickled."""
# ranks: 1

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def make():
    class Local:
        pass

    return Local()


try:
    comm.bcast(make())
except Exception as error:
    print(rank, type(error).__name__)
