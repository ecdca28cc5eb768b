"""Init_thread by hand, and finalize by atexit."""

import atexit
import mpi4py

mpi4py.rc.initialize = False
from mpi4py import MPI  # noqa: E402

assert not MPI.Is_initialized()
level = MPI.Init_thread(MPI.THREAD_SERIALIZED)
print(level == MPI.THREAD_SERIALIZED, MPI.Query_thread() == level, MPI.Is_thread_main())
atexit.register(lambda: print("finalized?", MPI.Is_finalized()))
atexit.register(MPI.Finalize)
print(MPI.COMM_WORLD.allreduce(1))
