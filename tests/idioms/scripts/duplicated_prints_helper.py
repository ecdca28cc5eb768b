"""A helper that prints on rank 0 only, with the arguments of print."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def print0(*args, **kwargs):
    if MPI.COMM_WORLD.Get_rank() == 0:
        print(*args, **kwargs)


print0("only", "once", sep="-")
for other in range(size):
    comm.Barrier()
    if other == rank:
        print("in turn", rank, flush=True)
