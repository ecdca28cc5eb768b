"""The program calls Init and Finalize."""

import mpi4py

mpi4py.rc.initialize = False
mpi4py.rc.finalize = False
from mpi4py import MPI  # noqa: E402

print(MPI.Is_initialized())
MPI.Init()
print(MPI.COMM_WORLD.Get_rank(), MPI.Is_initialized(), MPI.Is_finalized())
MPI.Finalize()
print(MPI.Is_finalized())
