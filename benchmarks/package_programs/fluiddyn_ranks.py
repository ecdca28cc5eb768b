"""fluiddyn finds the number of ranks, and prints on rank 0."""

from fluiddyn.util import mpi

mpi.printby0(f"{mpi.nb_proc} ranks")
total = mpi.comm.allreduce(mpi.rank)
print(f"{mpi.rank}: {total}\n", end="", flush=True)
