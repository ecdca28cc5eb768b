"""Output that is collected and sent to rank 0."""

import contextlib
import io

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

out = io.StringIO()
with contextlib.redirect_stdout(out):
    print("said by", rank)
    comm.Barrier()
texts = comm.gather(out.getvalue())
if rank == 0:
    print("".join(texts), end="")
