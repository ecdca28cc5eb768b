import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
before = list(sys.meta_path)
if comm.rank == 1:
    sys.meta_path[:] = []
comm.barrier()
found = None
if comm.rank == 1:
    try:
        import wave

        found = True
    except ImportError:
        found = False
    sys.meta_path[:] = before
else:
    pass
comm.barrier()
import wave  # noqa: E402

print(comm.rank, found, wave.__name__)
# when: full
