"""pylops-mpi: a block-diagonal operator, its adjoint, and conjugate gradients."""

import numpy as np
import pylops
import pylops_mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD
operator = pylops_mpi.MPIBlockDiag([pylops.MatrixMult(np.diag([2.0, 3.0, 4.0]) + comm.rank)])
x = pylops_mpi.DistributedArray(global_shape=3 * comm.size)
x[:] = 1.0
y = operator @ x
adjoint = (operator.H @ y).asarray()
start = pylops_mpi.DistributedArray(global_shape=3 * comm.size)
start[:] = 0.0
solution = pylops_mpi.cgls(operator, y, start, niter=30, tol=1e-12)[0].asarray()
if comm.rank == 0:
    print(float(np.linalg.norm(adjoint)), bool(np.allclose(solution, 1)))
