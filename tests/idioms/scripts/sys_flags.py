# python: -O -W error::UserWarning -X dev -B
import sys
import warnings
from mpi4py import MPI

assert False, "never"
try:
    warnings.warn("x")
    print("no error")
except UserWarning:
    print(
        MPI.COMM_WORLD.rank,
        sys.flags.optimize,
        sys.flags.dev_mode,
        sys.flags.dont_write_bytecode,
        "dev" in sys._xoptions,
        __debug__,
    )
# when: full
