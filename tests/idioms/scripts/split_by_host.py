"""One communicator for each node."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

node = comm.Split_type(MPI.COMM_TYPE_SHARED)
hosts = comm.allgather(MPI.Get_processor_name())
print(rank, node.size == size, len(set(hosts)))
