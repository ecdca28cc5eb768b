"""Each rank has its own mask for new files."""
# ranks: 2

import os
import tempfile

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

os.umask(0o077 if rank else 0o022)
comm.Barrier()
handle, name = tempfile.mkstemp()
os.close(handle)
os.remove(name)
os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o666))
print(rank, oct(os.stat(name).st_mode & 0o777))
os.remove(name)
