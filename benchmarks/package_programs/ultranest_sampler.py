"""ultranest: nested sampling, whose integrator calls mpi4py."""

import numpy as np
from mpi4py import MPI
from ultranest import ReactiveNestedSampler


def log_likelihood(x):
    return -0.5 * np.sum(((x - 0.5) / 0.1) ** 2)


np.random.seed(1)
sampler = ReactiveNestedSampler(["a", "b"], log_likelihood, lambda cube: cube)
result = sampler.run(min_num_live_points=50, max_ncalls=2000, show_status=False, viz_callback=None)
alike = len(set(MPI.COMM_WORLD.allgather(float(result["logz"])))) == 1
if MPI.COMM_WORLD.rank == 0:
    print(f"the same on every rank: {alike}, finite: {np.isfinite(result['logz'])}")
