"""Rank 0 reads a line and broadcasts it."""
# stdin: Ada\n

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

name = input("name? ") if rank == 0 else None
print("hello", comm.bcast(name), "from", rank)
