"""pyPESTO runs optimizations from several starting points in a pool of MPI ranks."""

import numpy as np
import pypesto
import pypesto.optimize
import scipy.optimize
from pypesto.engine.mpi_pool import MPIPoolEngine

if __name__ == "__main__":
    np.random.seed(1)
    objective = pypesto.Objective(fun=scipy.optimize.rosen, grad=scipy.optimize.rosen_der)
    problem = pypesto.Problem(objective, lb=[-2, -2], ub=[2, 2])
    optimizer = pypesto.optimize.ScipyOptimizer("L-BFGS-B")
    found = pypesto.optimize.minimize(problem, optimizer, n_starts=4, engine=MPIPoolEngine(), progress_bar=False)
    print([round(value, 4) for value in found.optimize_result.fval], np.round(found.optimize_result.x[0], 3).tolist())
