"""All ranks exit with the same status."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

comm.Barrier()
raise SystemExit(5)
