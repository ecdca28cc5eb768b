"""A reduction with a function of the program."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def longest(a, b):
    return max(a, b, key=len)


print(rank, comm.allreduce("x" * (rank + 1), op=longest))
op = MPI.Op.Create(lambda a, b, datatype: None, commute=True)
op.Free()
