"""`mpi4py.util`: helpers on top of MPI.

dtlib    conversion between numpy dtypes and MPI datatypes
pkl5    communication of pickled objects with out-of-band buffers
pool    multiprocessing's Pool on executors of `mpi4py.futures`
sync    counters, mutexes, conditions and semaphores shared by ranks
"""

import sys

if "mpi4py.util.dtlib" in sys.modules:  # with --processes, made before this package is imported
    dtlib = sys.modules["mpi4py.util.dtlib"]
