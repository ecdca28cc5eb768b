"""sys.modules['__main__'], __file__, __spec__, inspect of the main module."""

import sys
import os
import inspect
from mpi4py import MPI

main = sys.modules["__main__"]
main.counter = MPI.COMM_WORLD.rank
print(
    counter,  # noqa: F821
    os.path.basename(__file__),
    __spec__,
    __package__,
    __doc__[:10],
    __loader__.__class__.__name__,
    __builtins__.__name__,
    __name__,
)
import __main__  # noqa: E402

print(__main__ is main, os.path.basename(sys.argv[0]) == os.path.basename(__file__), os.path.basename(sys.path[0]))


def f(x):
    return x + 1


print(
    inspect.getsource(f).strip().splitlines()[1].strip(),
    inspect.getmodule(f) is main,
    f.__module__,
    os.path.basename(inspect.getfile(f)),
    "__annotations__" in globals() or sys.version_info >= (3, 14),
)
