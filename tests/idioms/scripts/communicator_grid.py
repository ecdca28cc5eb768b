"""Communicators of rows and columns."""
# ranks: 6

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

columns = 2
row, column = comm.Split(rank // columns, rank), comm.Split(rank % columns, rank)
print(rank, row.Get_size(), row.allreduce(rank), column.Get_size(), column.allreduce(rank))
row.Free()
column.Free()
