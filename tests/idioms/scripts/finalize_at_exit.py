"""atexit handler that finalizes unless finalized; calls after Finalize fail."""

# ranks: 2
import atexit
from mpi4py import MPI


def clean():
    if not MPI.Is_finalized():
        MPI.Finalize()
    print("done", MPI.Is_finalized(), MPI.Is_initialized())


atexit.register(clean)
MPI.COMM_WORLD.Barrier()
MPI.Finalize()
print("after", MPI.COMM_WORLD != MPI.COMM_NULL)
