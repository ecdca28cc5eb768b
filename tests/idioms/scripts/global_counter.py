"""A global variable of the script belongs to its rank."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

calls = 0


def call():
    global calls
    calls += rank + 1


for _ in range(3):
    call()
    comm.Barrier()
print(rank, calls)
