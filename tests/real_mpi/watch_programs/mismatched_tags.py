"""The sender and the receiver have different tags."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    comm.recv(source=1, tag=7)
elif comm.rank == 1:
    comm.send("a message", dest=0, tag=8)
comm.Barrier()
