"""Every rank has a pool of processes."""
# ranks: 2

import multiprocessing

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def square(x):
    return x * x


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(rank, pool.map(square, range(rank, rank + 3)))
