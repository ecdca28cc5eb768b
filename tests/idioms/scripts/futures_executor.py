"""A pool of ranks: rank 0 submits, the others work."""

from mpi4py.futures import MPICommExecutor

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def square(x):
    return x * x


if __name__ == "__main__":
    with MPICommExecutor(comm, root=0) as executor:
        if executor is not None:
            print(list(executor.map(square, range(5))))
    print("end of", rank)
