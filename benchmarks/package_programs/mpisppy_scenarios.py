"""mpi-sppy assigns scenarios to the ranks of its communicator, and reduces on it."""

import contextlib
import io

with contextlib.redirect_stdout(io.StringIO()):  # the import prints the time
    from mpisppy import MPI
    from mpisppy.utils.sputils import scens_to_ranks

comm = MPI.COMM_WORLD
slices, *_ = scens_to_ranks(7, comm.size, comm.rank)
mine = [int(number) for number in slices[comm.rank]]
print(f"{comm.rank}: {mine} {comm.allreduce(sum(mine))}\n", end="", flush=True)
