"""One rank never starts the nonblocking collective operation that the others wait for."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    comm.recv(source=1, tag=9)
request = comm.Ibarrier()
request.Wait()
