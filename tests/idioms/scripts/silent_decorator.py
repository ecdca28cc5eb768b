"""A decorator redirects stdout to a dummy stream during a call that communicates."""

import functools
import sys
import contextlib
import io
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Dummy:
    def write(self, x):
        pass

    def flush(self):
        pass


def quiet(f):
    @functools.wraps(f)
    def g(*a, **k):
        old = sys.stdout
        sys.stdout = Dummy()
        try:
            return f(*a, **k)
        finally:
            sys.stdout = old

    return g


@quiet
def work():
    print("hidden", comm.rank)
    return comm.allreduce(comm.rank)


print(work(), comm.rank)
with contextlib.redirect_stderr(io.StringIO()) as e:
    print("err", comm.rank, file=sys.stderr)
    comm.Barrier()
    print("err2", comm.rank, file=sys.stderr)
print(repr(e.getvalue()))
