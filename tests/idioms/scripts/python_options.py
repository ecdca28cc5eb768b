"""Options of Python before the script."""
# ranks: 2
# python: -O -W error -X utf8

import sys
import warnings

from mpi4py import MPI

assert sys.flags.optimize, "not executed"
print(MPI.COMM_WORLD.rank, __debug__, sys.flags.optimize, sys.flags.utf8_mode, sys.warnoptions)
try:
    warnings.warn("text", stacklevel=1)
except UserWarning as warning:
    print("raised", warning)
