"""`Abort` ends all ranks with its exit code."""
# ranks: 2

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 1:
    print("rank 1 gives up", flush=True)
    comm.Abort(3)
comm.Barrier()
