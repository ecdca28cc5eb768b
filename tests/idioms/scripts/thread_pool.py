"""A pool of threads on every rank."""

from concurrent.futures import ThreadPoolExecutor

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

with ThreadPoolExecutor(2) as pool:
    print(rank, list(pool.map(lambda x: x + rank, range(3))))
