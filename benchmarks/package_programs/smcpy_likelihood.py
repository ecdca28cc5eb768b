"""smcpy distributes the evaluations of a model over ranks."""

import numpy as np
from mpi4py import MPI
from scipy.stats import uniform
from smcpy import AdaptiveSampler, ParallelVectorMCMC, VectorMCMCKernel

comm = MPI.COMM_WORLD
data = np.array([1.0, 2.0, 3.0])
mcmc = ParallelVectorMCMC(lambda inputs: inputs[:, :1] * np.arange(1, 4), data, [uniform(0, 3)], comm, 0.5)
found = mcmc.evaluate_log_likelihood(np.linspace(0, 2, 7).reshape(-1, 1))
if comm.rank == 0:
    print(np.round(found.ravel(), 6).tolist())
kernel = VectorMCMCKernel(mcmc, param_order=["a"], rng=np.random.default_rng(3))
steps, _ = AdaptiveSampler(kernel).sample(num_particles=60, num_mcmc_samples=3, target_ess=0.8)
if comm.rank == 0:
    print(len(steps), round(float(steps[-1].compute_mean()["a"]), 6))
