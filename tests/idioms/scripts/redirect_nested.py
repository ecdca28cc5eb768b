import contextlib
import io
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
outer, inner, err = io.StringIO(), io.StringIO(), io.StringIO()
with contextlib.redirect_stdout(outer):
    print("outer", comm.rank)
    comm.barrier()
    with contextlib.redirect_stdout(inner), contextlib.redirect_stderr(err):
        print("inner", comm.rank)
        print("error", comm.rank, file=sys.stderr)
        comm.barrier()
    print("outer again", comm.rank)
print(comm.gather((outer.getvalue(), inner.getvalue(), err.getvalue())))
# when: full
